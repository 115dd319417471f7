/** The report of a run, which the server makes of its trace, handed to the browser. */

import { nameFile, saveFile } from "../model/save-file";
import type { Trace } from "../model/trace";
import { makeFile, type Server } from "../client/server";

/** Let the browser save the report of a run.
 *
 * @throws Problem: the server does not make it.
 */
export async function downloadReport(server: Server, { run, ...trace }: Trace): Promise<void> {
  const { now_s: _, written: __, ...ended } = run; // a file is not live
  const page = await makeFile(server, "report.html", JSON.stringify({ ...trace, run: ended }));
  saveFile(`${nameFile(run)}-report.html`, new Blob([page], { type: "text/html" }));
}
