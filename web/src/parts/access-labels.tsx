import type { TeamTool } from "../model/team";
import { Line } from "./text";

const READS = new Map([
  ["private", "your data"],
  ["untrusted", "text that others wrote"],
]);

/** Return in plain words what a label says was read. */
export const nameReads = (label: string): string => READS.get(label) ?? label;

const SENDS: Record<string, string> = { query: "search words", address: "an address to fetch", anything: "anything" };

/** What a tool or a remote worker reads, and what it sends outside. */
export const AccessLabels = ({ reads, sends }: Pick<TeamTool, "reads" | "sends">) => (
  <span class="access-labels">
    {reads.map((label) => (
      <span key={label} class={`access-label small access-${READS.has(label) ? label : "other"}`}>
        reads <Line max={40}>{nameReads(label)}</Line>
      </span>
    ))}
    {sends !== "nothing" && (
      <span class="access-label small access-sends">
        sends <Line max={40}>{SENDS[sends] ?? sends}</Line>
      </span>
    )}
    {!reads.length && sends === "nothing" && <span class="soft small">reads nothing, sends nothing</span>}
  </span>
);
