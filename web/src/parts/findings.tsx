import type { Finding } from "../model/trace";
import { MarkdownLine } from "./markdown-text";
import { SortableTable, type Column } from "./sortable-table";
import { Text } from "./text";
import { useIsPrinting } from "./use-size";

const SEVERITIES = ["critical", "high", "medium", "low", "info"];

const asText = (value: unknown): string => (value == null ? "" : String(value));
const rank = (finding: Finding): number => SEVERITIES.indexOf(asText(finding.severity));
const placeOf = (finding: Finding): string => [finding["file"], finding["line"]].filter(Boolean).join(":");

/** Behind a message the rule that found it, and how likely the harm is. */
const RULE = / \[\w+ ([1-5])\/5\]$/;
const describeRule = (message: string): string => {
  const likelihood = RULE.exec(message)?.[1];
  return likelihood ? `likelihood ${likelihood} of 5.` : "";
};

const COLUMNS: Column<Finding>[] = [
  {
    title: "Severity",
    value: rank,
    show: (finding) => <span class={`severity severity-${rank(finding)}`}>{asText(finding.severity)}</span>,
  },
  {
    title: "What",
    value: (finding) => asText(finding["message"]),
    show: (finding) => (
      <>
        <MarkdownLine text={asText(finding["message"]).replace(RULE, "")} />
        <div class="soft small">
          <code><Text>{placeOf(finding)}</Text></code>{" "}
          {describeRule(asText(finding["message"]))}{" "}
          <MarkdownLine text={asText(finding["suggestion"])} />
        </div>
      </>
    ),
  },
  {
    title: "By",
    value: (finding) => asText(finding["reporters"]),
    show: (finding) => <Text>{Array.isArray(finding["reporters"]) ? finding["reporters"].join(", ") : ""}</Text>,
  },
  {
    title: "Confidence",
    value: (finding) => Number(finding["confidence"] ?? -1),
    show: (finding) => asText(finding["confidence"]),
    kind: "figure",
  },
];

/** More are shown when the reader asks for them: an answer says them in its words. */
const MAX_UNFOLDED = 5;

/** The defects and remarks of a report or an answer. */
export const Findings = ({ findings }: { findings: Finding[] }) => {
  const isPrinting = useIsPrinting();
  const columns = findings.some((finding) => finding["reporters"]) ? COLUMNS : COLUMNS.filter(({ title }) => title !== "By");
  const rows = findings.map((finding, index) => ({ ...finding, index }));
  return <SortableTable caption="Findings" columns={columns} rows={rows} keyOf={(row) => asText(row["index"])} max={isPrinting ? rows.length : MAX_UNFOLDED} />;
};
