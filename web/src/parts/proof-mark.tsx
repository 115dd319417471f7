import type { Proof } from "../model/trace";
import { Text } from "./text";

const WORDS: Record<Proof, string> = {
  quoted: "quoted",
  computed: "computed",
  returned: "returned by a tool",
  stated: "without a source",
  unproved: "not proved",
};

/** How a program found a claim in what was read; nothing where it was not looked for. */
export const ProofMark = ({ proof, doubt }: { proof?: Proof | null; doubt?: string | null }) =>
  proof ? (
    <>
      {" "}
      <span class={`proof ${proof}`}>{WORDS[proof] ?? proof}</span>
      {doubt ? (
        <span class="soft small">
          {" "}
          <Text>{doubt}</Text>
        </span>
      ) : null}
    </>
  ) : null;
