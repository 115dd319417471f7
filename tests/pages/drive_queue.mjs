// More runs than the server works on at once: one that waits says so, can be stopped, and is done in its turn.
import { drive, given, press, read, waitForText, writeRequest } from "./browser.mjs";

const SLOTS = 10;

async function send(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(given.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function startRun() {
  const { thread_id } = await send("/threads", {});
  const input = { request: "Which part costs least?", materials: { "prices.csv": "coffee,eur_per_kg\nHuila,24\n" } };
  await send(`/threads/${thread_id}/runs`, { assistant_id: "market_analysis", input });
}

const fillServer = () => Promise.all(Array.from({ length: SLOTS }, startRun));

async function startOnPage(page) {
  await page.goto(`${given.url}/supervise/#/`);
  await writeRequest(page, given.request, given.file);
  await page.waitForSelector("form button.primary:not(:disabled)");
  await press(page, "Start");
  await waitForText(page, "main", "in the queue");
  await waitForText(page, "blockquote.request", given.request.slice(0, 20));
}

await drive(async ({ page, takePicture, note }) => {
  await page.goto(`${given.url}/supervise/`);
  await page.waitForSelector("input[name=team]");
  await fillServer();
  await startOnPage(page);
  await takePicture("waiting");
  note("while it waits", await read(page, "main"));
  const first = await page.evaluate(() => location.hash);
  await fillServer(); // a browser may type for as long as a run takes
  await startOnPage(page);
  await press(page, "Stop the run");
  await waitForText(page, "main", "stopped before it began");
  note("stopped in the queue", await read(page, "main"));
  await takePicture("stopped");
  const stopped = await page.evaluate(() => location.hash);
  await page.goto(`${given.url}/supervise/#/`);
  await waitForText(page, `.run-list tr:has([href="${stopped}"])`, `stopped.*${given.request.slice(0, 20)}`);
  await takePicture("list");
  await page.goto(`${given.url}/supervise/${stopped}`);
  await waitForText(page, "main", "Start again");
  await press(page, "Start again");
  await waitForText(page, ".run-bar", "done");
  note("a run that was stopped in the queue, started again", await read(page, ".facts"));
  await page.goto(`${given.url}/supervise/${first}`);
  await waitForText(page, ".run-bar", "done");
  note("in its turn", await read(page, ".run-bar"));
});
