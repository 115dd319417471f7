// The server is killed while a run is watched, and comes back: the page says so, and follows the run to its end.
import { drive, given, press, read, waitForText, writeRequest } from "./browser.mjs";

await drive(async ({ page, takePicture, note }) => {
  await page.goto(`${given.url}/supervise/`);
  await page.waitForSelector("input[name=team]");
  await writeRequest(page, given.request, given.file);
  await press(page, "Start");
  await waitForText(page, ".run-bar", "running\\s+live");
  await waitForText(page, "main", "1 of 4 done|2 of 4 done");
  await fetch(`${given.control}/kill`);
  await waitForText(page, ".run-bar", "connection lost");
  await takePicture("away");
  note("while the server is away", [await read(page, ".run-bar"), await read(page, "[role=alert]")]);
  await fetch(`${given.control}/start`);
  await waitForText(page, ".run-bar", "running\\s+(?:live|connected again)");
  note("when it is back", await read(page, ".run-bar"));
  await waitForText(page, ".run-bar", "done|partial|failed|stopped");
  note("at the end", await read(page, ".run-bar"));
  if (!(await read(page, ".run-bar")).startsWith("✓ done")) throw new Error("the run is not done");
  await takePicture("back", { fullPage: true });
});
