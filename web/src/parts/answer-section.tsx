import { findAnswer } from "../model/answer";
import { listClaims, listSources } from "../model/sources";
import { decodeFile, saveFile } from "../model/save-file";
import type { RunDocument, Trace } from "../model/trace";
import { CopyAnswer } from "./copy-answer";
import { Findings } from "./findings";
import { FoldedText, MarkdownLine } from "./markdown-text";
import { Proofs } from "./proofs";

/** Longer answers are folded, so that what is below them is in reach. */
const MAX_UNFOLDED_CHARS = 6000;

/** The answer with a mark at what is proved, and its findings. */
export function AnswerSection({ trace }: { trace: Trace }) {
  const answer = findAnswer(trace);
  if (!answer) return null;
  return (
    <>
      <CopyAnswer trace={trace} />
      <Written documents={trace.documents ?? []} />
      <Proofs trace={trace}>
        <FoldedText text={answer.text} sources={listSources(trace)} claims={listClaims(trace)} maxChars={MAX_UNFOLDED_CHARS} />
      </Proofs>
      {answer.findings.length > 0 && (
        <>
          <h3>Findings ({answer.findings.length})</h3>
          <Findings findings={answer.findings} />
        </>
      )}
    </>
  );
}

/** The documents that the run has written, to be saved. */
const Written = ({ documents }: { documents: readonly RunDocument[] }) =>
  documents.length ? (
    <p class="written flow">
      <span class="soft">{documents.length > 1 ? "Documents" : "Document"}</span>
      {documents.map(({ name, content }) => (
        <button key={name} type="button" title="Save the document" onClick={() => saveFile(name, decodeFile(content))}>
          <span aria-hidden="true">↓ </span>{name}
        </button>
      ))}
    </p>
  ) : null;

/** A confidence from 0 to 100. */
export const Confidence = ({ value }: { value: number }) => (
  <p>
    Confidence <strong>{value}</strong> of 100
  </p>
);

/** A list of untrusted texts under a heading; nothing without one. */
export const TextList = ({ title, texts }: { title: string; texts: readonly string[] }) =>
  texts.length ? (
    <>
      <h3>
        {title} ({texts.length})
      </h3>
      <ul>
        {texts.map((text, index) => (
          <li key={index}><MarkdownLine text={text} /></li>
        ))}
      </ul>
    </>
  ) : null;
