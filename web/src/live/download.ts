/** The report of a run, built from the template that the server has, and handed to the browser. */

import { saveFile } from "../model/save-file";
import type { Trace } from "../model/trace";
import { toLine } from "../model/plain-text";
import { Problem, readProblem } from "../client/problem";
import { shrinkTrace } from "../client/shrink-trace";

/** What the template has in place of a trace: extensions/server/live_page.py. */
const PLACE = '"trace of the run"';
const ESCAPED = /[<>&\u2028\u2029]/g;

const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Return JSON that cannot end the `script` element that holds it. */
export const formatJsonForScript = (value: unknown): string =>
  JSON.stringify(value).replace(ESCAPED, escapeCharacter);

/** Return the report, from its template.
 *
 * @throws Problem: the template has no place for a trace.
 */
export function fillReport(template: string, trace: Trace): string {
  const at = template.indexOf(`>${PLACE}</script>`);
  if (at < 0) throw new Problem("unreadable", "the server's template of a report cannot be read");
  const end = at + 1 + PLACE.length;
  return template.slice(0, at + 1) + formatJsonForScript(shrinkTrace(trace)) + template.slice(end);
}

/** Let the browser save the report of a run.
 *
 * @throws Problem: the template cannot be loaded.
 */
export async function downloadReport(trace: Trace): Promise<void> {
  const answer = await fetch("report.txt").catch((error: unknown) => {
    throw readProblem(error);
  });
  if (!answer.ok) throw readProblem({ status: answer.status, text: "" });
  const name = toLine(trace.run.thread, 40).replace(/[^\w-]/g, "");
  saveFile(`run-${name}.html`, new Blob([fillReport(await answer.text(), trace)], { type: "text/html" }));
}
