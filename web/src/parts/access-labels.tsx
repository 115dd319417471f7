import { Line } from "./text";

const READS: Record<string, string> = { private: "private data", untrusted: "untrusted text" };
const SENDS: Record<string, string> = { query: "search words", address: "an address to fetch", anything: "anything" };

interface AccessLabelsProps {
  reads: string[];
  sends: string;
}

/** What a tool or a remote worker reads, and what it sends outside. */
export const AccessLabels = ({ reads, sends }: AccessLabelsProps) => (
  <span class="access-labels">
    {reads.map((label) => (
      <span key={label} class={`access-label access-${READS[label] ? label : "other"}`}>
        reads <Line max={40}>{READS[label] ?? label}</Line>
      </span>
    ))}
    {sends !== "nothing" && (
      <span class="access-label access-sends">
        sends <Line max={40}>{SENDS[sends] ?? sends}</Line>
      </span>
    )}
    {!reads.length && sends === "nothing" && <span class="soft small">reads nothing, sends nothing</span>}
  </span>
);
