// Start runs on an idle server, and read their state all the while: nothing is ahead of them, and nothing fails.
import { drive, given, press, read, waitForText, writeRequest } from "./browser.mjs";

const STARTS = 3;
const READERS = 4;
const NAMESPACES = ["", "supervise-summary", "supervise-trace"];
const FIRST_LINE = "00000000-0000-0000-0000-000000000000";

async function ask(path, body) {
  const options = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  try {
    const answer = await fetch(given.url + path, options);
    return { status: answer.status, text: await answer.text() };
  } catch {
    return { status: 0, text: "" }; // the server closes a connection after an error
  }
}

/** Read a thread's state in every way until told to stop; return how often, and what failed. */
async function readState(thread, isOver) {
  const bodies = NAMESPACES.map((name) => ({
    checkpoint: { thread_id: thread, checkpoint_ns: name, ...(name && { checkpoint_id: FIRST_LINE }) },
  }));
  const told = { reads: 0, failures: [] };
  const reader = async () => {
    while (!isOver()) {
      const answers = await Promise.all([
        ask(`/threads/${thread}/state`),
        ...bodies.map((body) => ask(`/threads/${thread}/state/checkpoint`, body)),
      ]);
      told.reads += answers.length;
      told.failures.push(...answers.filter(({ status }) => status >= 500).map(({ text }) => text.slice(0, 200)));
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return told;
}

await drive(async ({ page, problems, takePicture, note }) => {
  await page.evaluateOnNewDocument(() => {
    window.said = new Set();
    const look = () => window.said.add(document.querySelector("main")?.innerText ?? "");
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
  });
  for (let start = 1; start <= STARTS; start += 1) {
    await page.goto(`${given.url}/supervise/#/`);
    await page.waitForSelector("input[name=team]");
    await page.click("input[name=team][value=market_analysis]");
    await writeRequest(page, given.request, given.file);
    await page.waitForSelector("form button.primary:not(:disabled)");
    await press(page, "Start");
    await page.waitForFunction(() => location.hash.startsWith("#/runs/"), { polling: 20 });
    const thread = await page.evaluate(() => location.hash.slice("#/runs/".length));
    let isOver = false;
    const reading = readState(thread, () => isOver);
    if (start === 1) await takePicture("begins");
    await waitForText(page, ".run-bar", "done|partial|failed").finally(() => (isOver = true));
    const { reads, failures } = await reading;
    note(`run ${start}`, await read(page, ".run-bar"));
    if (!reads || failures.length) throw new Error(`${failures.length} of ${reads} reads of the state failed: ${failures[0]}`);
    note("reads of its state, none of which failed", reads);
    const said = await page.evaluate(() => [...window.said].filter((text) => /other runs|in the queue/.test(text)));
    if (said.length) throw new Error(`the page spoke of a queue on an idle server: ${said[0]}`);
    if (start === STARTS) await takePicture("ended");
    for (const shown of ["from a run", "where it is shown already"]) {
      await page.evaluate(() => (document.activeElement.blur(), scrollTo(0, 0)));
      await page.click('nav a[href="#/runs"]');
      await page.waitForFunction(() => document.activeElement.id === "runs-title");
      note(`the link to the list of runs, ${shown}`, await page.evaluate(() => document.activeElement.getBoundingClientRect().top < innerHeight));
    }
    await page.goto("about:blank");
  }
  if (problems.length) throw new Error(problems.join("; "));
});
