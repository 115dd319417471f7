// Run the same plan again and again, every second time with the live page open; print times and memory.
import { drive, given, waitForText } from "./browser.mjs";

const headers = { "content-type": "application/json" };
const call = async (path, body) => {
  const answer = await fetch(given.url + path, { headers, ...(body ? { method: "POST", body: JSON.stringify(body) } : {}) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Start a run with the options of the live page, and return its thread and id. */
async function startRun() {
  const { thread_id } = await call("/threads", {});
  const { run_id } = await call(`/threads/${thread_id}/runs`, {
    assistant_id: "market_analysis",
    input: { request: given.request },
    context: { max_tasks: 1000, max_concurrency: 1000, max_steps: 10000 },
    stream_mode: ["custom"],
    stream_subgraphs: true,
    stream_resumable: true,
  });
  return { thread_id, run_id };
}

async function measureRun(page, isWatched) {
  const before = await page.metrics();
  const run = await startRun();
  if (isWatched) await page.evaluate((thread) => void (location.hash = `#/runs/${thread}`), run.thread_id);
  await call(`/threads/${run.thread_id}/runs/${run.run_id}/join`);
  const { values } = await call(`/threads/${run.thread_id}/state`);
  if (values.status !== "done") throw new Error(`the run is ${values.status}`);
  const after = await page.metrics();
  return { thread: run.thread_id, seconds: values.timing.wall_s, busy: after.TaskDuration - before.TaskDuration };
}

/** Return when the page was painted, and when the cards of the teams were there, in seconds from the call of the page. */
const readStart = (page) =>
  page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0].startTime, performance.now()].map((ms) => Number((ms / 1000).toFixed(2))));

/** Open what was done, scroll to its end and back for four seconds, and return the frames a second. */
const scrollTasks = (page) =>
  page.evaluate(async () => {
    document.querySelectorAll("main details").forEach((each) => (each.open = true));
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    const began = performance.now();
    for (let count = 1; ; count += 1) {
      const { scrollHeight } = document.documentElement;
      scrollTo(0, ((1 - Math.cos(count / 20)) / 2) * scrollHeight);
      await frame();
      const ms = performance.now() - began;
      if (ms > 4000) return Number(((1000 * count) / ms).toFixed(1));
    }
  });

await drive(async ({ page, takePicture, note }) => {
  const session = await page.createCDPSession();
  const readHeap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return Number((usedSize / 1e6).toFixed(1));
  };
  const seconds = { watched: [], alone: [], busy: [] };
  for (let round = -1; round < given.runs; round += 1) {
    for (const kind of round % 2 ? ["alone", "watched"] : ["watched", "alone"]) {
      await page.goto(kind === "watched" ? `${given.url}/supervise/#/` : "about:blank");
      if (kind === "watched") await page.waitForSelector("input[name=team]");
      const run = await measureRun(page, kind === "watched");
      if (round < 0) continue; // the first ones load libraries
      seconds[kind].push(run.seconds);
      if (kind === "watched") seconds.busy.push(run.busy);
    }
  }
  await page.goto(`${given.url}/supervise/#/`);
  await page.waitForSelector("input[name=team]");
  await page.reload(); // from a warm server
  await page.waitForSelector("input[name=team]");
  note("first paint and a page that can be used, s", await readStart(page));
  note("heap of the first page, MB", await readHeap());
  const run = await startRun();
  await page.evaluate((thread) => void (location.hash = `#/runs/${thread}`), run.thread_id);
  await waitForText(page, "main", "working");
  let most = 0;
  for (const poll of Array.from({ length: 100 }, (_, index) => index)) {
    most = Math.max(most, await readHeap());
    if (/done/.test(await page.$eval(".run-bar", (bar) => bar.innerText)) || poll > 90) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  note("heap at most while it ran, MB", most);
  await waitForText(page, ".run-bar", "done");
  note("heap at the end, MB", await readHeap());
  await page.reload();
  const began = Date.now();
  await waitForText(page, ".run-bar", "done");
  note("reload until the run is shown, s", (Date.now() - began) / 1000);
  note("heap after a reload, MB", await readHeap());
  note("frames a second while the tasks are scrolled", await scrollTasks(page));
  await takePicture("measured");
  if (given.runs) note("seconds", seconds);
});
