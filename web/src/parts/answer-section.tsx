import { useMemo } from "preact/hooks";
import { findAnswer } from "../model/answer";
import { listSources } from "../model/sources";
import type { Trace } from "../model/trace";
import { Findings } from "./findings";
import { FoldedText, MarkdownLine } from "./markdown-text";

/** The answer, how sure it is, what it leaves open, and its findings. */
export function AnswerSection({ trace }: { trace: Trace }) {
  const [answer, sources] = useMemo(() => [findAnswer(trace), listSources(trace)] as const, [trace]);
  if (!answer) return null;
  return (
    <>
      <div class="answer">
        <FoldedText text={answer.text} sources={sources} maxChars={MAX_UNFOLDED_CHARS} />
        <div class="answer-limits">
          {answer.confidence !== null && <Confidence value={answer.confidence} />}
          <TextList title="Not answered" texts={answer.unanswered} />
          <TextList title="Gaps" texts={answer.gaps} />
        </div>
      </div>
      {answer.findings.length > 0 && (
        <>
          <h3>Findings ({answer.findings.length})</h3>
          <Findings findings={answer.findings} />
        </>
      )}
    </>
  );
}

/** Longer answers are folded, so that what is below them is in reach. */
const MAX_UNFOLDED_CHARS = 6000;

/** A confidence from 0 to 100, as a number and as a bar. */
export const Confidence = ({ value }: { value: number }) => (
  <p class="confidence">
    Confidence <strong>{value}</strong> of 100
    <span class="meter" aria-hidden="true">
      <span style={{ width: `${Math.min(100, Math.max(0, value))}%` }} />
    </span>
  </p>
);

/** A list of untrusted texts under a heading; nothing without one. */
export const TextList = ({ title, texts }: { title: string; texts: readonly string[] }) =>
  texts.length ? (
    <>
      <h3>
        {title} ({texts.length})
      </h3>
      <ul class="texts">
        {texts.map((text, index) => (
          <li key={index}>
            <MarkdownLine text={text} />
          </li>
        ))}
      </ul>
    </>
  ) : null;
