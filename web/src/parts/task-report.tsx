import { toLine } from "../model/plain-text";
import type { TaskDetails } from "../model/task-details";
import type { Report } from "../model/trace";
import { nameReads } from "./access-labels";
import { Confidence, TextList } from "./answer-section";
import { Findings } from "./findings";
import { LongText } from "./long-text";
import { FoldedText } from "./markdown-text";
import { ProofMark } from "./proof-mark";
import { Quotation } from "./quotation";
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
      <Claims report={report} details={details} />
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
    {report.error && (
      <p class="problem">
        <Text>{report.error}</Text>
      </p>
    )}
    {report.escalation && report.escalation.message !== report.error && (
      <p class="problem">
        Could not do it ({String(report.escalation.reason ?? "").replaceAll("_", " ")}): <Text>{report.escalation.message}</Text>
      </p>
    )}
    {report.found_as_expected === false && <p class="problem">What was looked for is not there, or is something else.</p>}
  </>
);

function Claims({ report, details }: { report: Report; details: TaskDetails }) {
  const claims = report.claims ?? [];
  if (!claims.length) return null;
  const list = (
    <ol class="claims">
      {claims.map((claim, index) => {
        const placed = details.claims.find(({ text, quotation }) => text === claim.text && quotation === (claim.quotation ?? "").trim());
        return (
          <li key={index}>
            <Text>{claim.text}</Text>{" "}
            <span class="soft small">
              <Text>{claim.source}</Text>
              {claim.confidence != null && `, ${claim.confidence} of 100`}
            </span>
            <ProofMark proof={claim.proof} doubt={claim.doubt} />
            {placed?.passage ? (
              <Quotation passage={placed.passage} />
            ) : (
              claim.quotation && (
                <blockquote>
                  <Text>{claim.quotation}</Text>
                </blockquote>
              )
            )}
          </li>
        );
      })}
    </ol>
  );
  return (
    <details open={claims.length <= 3}>
      <summary>
        {claims.length} {claims.length === 1 ? "claim" : "claims"} with sources
      </summary>
      {list}
    </details>
  );
}
