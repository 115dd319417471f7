import { countOf } from "../model/format";
import { toLine } from "../model/plain-text";
import type { SourcedClaim } from "../model/sources";
import type { TaskDetails } from "../model/task-details";
import type { Report } from "../model/trace";
import { nameReads } from "./access-labels";
import { Confidence, TextList } from "./answer-section";
import { ClaimList } from "./claim-list";
import { Findings } from "./findings";
import { LongText } from "./long-text";
import { FoldedText } from "./markdown-text";
import { Text } from "./text";

/** What came of a task. */
export function TaskReport({ details }: { details: TaskDetails }) {
  const report = details.task.traced.report;
  if (!report) return null;
  return (
    <section class="task-report">
      <h3>Report</h3>
      <Problems report={report} />
      {report.output && report.output !== report.error && <Output text={report.output} />}
      {report.confidence != null && report.status !== "failed" && <Confidence value={report.confidence} />}
      <Claims claims={details.claims} />
      {(report.findings?.length ?? 0) > 0 && <Findings findings={report.findings!} />}
      <TextList title="Gaps" texts={report.gaps ?? []} />
      {report.taint_labels?.length ? <p class="soft small">It has read {toLine(report.taint_labels.map(nameReads).join(" and "))}.</p> : null}
    </section>
  );
}

/** Longer texts are shown as they are, in parts. */
const MAX_MARKDOWN_CHARS = 10_000;
/** Longer ones are folded, so that the attempts are in reach. */
const MAX_UNFOLDED_CHARS = 1500;

const Output = ({ text }: { text: string }) =>
  text.length > MAX_MARKDOWN_CHARS ? <LongText text={text} /> : <FoldedText text={text} maxChars={MAX_UNFOLDED_CHARS} />;

const Problems = ({ report }: { report: Report }) => (
  <>
    {report.error && report.status !== "skipped" && (
      <p class="problem"><Text>{report.error}</Text></p>
    )}
    {report.escalation && report.escalation.message !== report.error && (
      <p class="problem">
        Could not do it ({String(report.escalation.reason ?? "").replaceAll("_", " ")}): <Text>{report.escalation.message}</Text>
      </p>
    )}
    {report.found_as_expected === false && <p class="problem">What was looked for is not there, or is something else.</p>}
  </>
);

function Claims({ claims }: { claims: readonly SourcedClaim[] }) {
  if (!claims.length) return null;
  return (
    <details open={claims.length <= 3}>
      <summary>{countOf(claims.length, "claim")} with sources</summary>
      <ClaimList claims={claims} />
    </details>
  );
}
