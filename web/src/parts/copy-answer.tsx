import { useState } from "preact/hooks";
import { writeAnswer } from "../model/answer-file";
import { toLine } from "../model/plain-text";
import { saveFile } from "../model/save-file";
import type { Trace } from "../model/trace";

/** Take the answer along: to the clipboard, or as a file of Markdown. */
export function CopyAnswer({ trace }: { trace: Trace }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(writeAnswer(trace));
      setSaid("Copied");
    } catch {
      setSaid("Not permitted here: save it");
    }
    setTimeout(() => setSaid(""), 3000);
  };
  const save = () => {
    const name = toLine(trace.run.thread, 40).replace(/[^\w-]/g, "") || "run";
    saveFile(`answer-${name}.md`, new Blob([writeAnswer(trace)], { type: "text/markdown" }));
  };
  return (
    <p class="answer-tools no-print">
      <span role="status" class="soft small">
        {said}
      </span>
      <button type="button" onClick={copy}>
        Copy
      </button>
      <button type="button" onClick={save} title="Save the answer as Markdown">
        Save
      </button>
    </p>
  );
}
