import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { writeAnswer } from "../model/answer-file";
import { nameFile, saveFile } from "../model/save-file";
import type { Trace } from "../model/trace";

/** Makes a Word document of Markdown, where there is a server that can. */
export const WordContext = createContext<((markdown: string) => Promise<Blob>) | null>(null);

/** Take the answer along: to the clipboard, or as a file. */
export function CopyAnswer({ trace }: { trace: Trace }) {
  const [said, setSaid] = useState("");
  const makeWord = useContext(WordContext);
  const attempt = async (work: () => Promise<void>, done: string) => {
    setSaid(await work().then(() => done, (error: unknown) => (error instanceof Error && "kind" in error ? error.message : "Not permitted here: save it")));
    setTimeout(() => setSaid(""), 6000);
  };
  const save = (suffix: string, content: Blob) => saveFile(`${nameFile(trace.run)}.${suffix}`, content);
  return (
    <p class="answer-tools flow no-print">
      <span role="status" class="soft small">{said}</span>
      <button type="button" onClick={() => attempt(async () => navigator.clipboard.writeText(writeAnswer(trace)), "Copied")}>
        Copy
      </button>
      <button type="button" onClick={() => save("md", new Blob([writeAnswer(trace)], { type: "text/markdown" }))} title="Save the answer as Markdown">
        Markdown
      </button>
      {makeWord && (
        <button type="button" onClick={() => attempt(async () => save("docx", await makeWord(writeAnswer(trace))), "Saved")} title="Save the answer as a Word document">
          Word
        </button>
      )}
    </p>
  );
}
