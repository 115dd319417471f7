// Look at the teams, at one with hostile texts, at exams side by side, and run a row.
import { checkAccess, drive, given, read, showDark, waitForText } from "./browser.mjs";

const page_url = `${given.url}/supervise/`;

await drive(async ({ page, problems, takePicture, note }) => {
  const expect = (claim, words) => {
    if (!claim) throw new Error(words);
    note(words, true);
  };
  const open = async (route, selector, words) => {
    await page.goto(`${page_url}#/${route}`);
    await waitForText(page, selector, words);
  };
  await open("teams", ".team-list", "Market analysis");
  note("a broken team is one line", await read(page, ".team-list .row-problem"));
  expect(!(await read(page, "main")).includes("/tmp/"), "no path of the server is shown");
  note("axe on the teams", await checkAccess(page));
  await takePicture("list");

  await open("teams/market_analysis", "#exams", "damaged");
  note("a cut file of an exam", await read(page, ".exam-list .row-problem"));
  await waitForText(page, ".exam-rows tbody tr", "100|\\d\\d");
  expect((await read(page, "#exam")).includes("Scores of the newest result"), "each row has its score of the newest exam");
  note("axe on a team", await checkAccess(page));
  await takePicture("team", { fullPage: true });
  await showDark(page, true);
  note("axe on a team, dark", await checkAccess(page));
  await takePicture("team-dark");
  await showDark(page, false);
  await page.setViewport({ width: 320, height: 800 });
  await takePicture("team-narrow");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow <= 0, "nothing is wider than 320 pixels");
  await page.setViewport({ width: 1200, height: 900 });

  for (const box of await page.$$(".exam-list input")) await box.click();
  await (await page.waitForSelector("::-p-text(Compare the two)")).click();
  await waitForText(page, ".row-pairs", "better");
  note("rows that differ", await read(page, ".row-pairs tbody"));
  note("axe on two exams", await checkAccess(page));
  await takePicture("exams", { fullPage: true });
  await (await page.waitForSelector("#exams h3 a")).click();
  await waitForText(page, "#rows", "made-worse");
  note("axe on an exam", await checkAccess(page));
  await takePicture("exam");

  await open("teams/hostile", "#exam", "line 2");
  note("the hostile team's exam", await read(page, "#exam"));
  note("its warning", await read(page, ".notice-warning"));
  expect(!(await page.$("main img")), "no text became markup");
  expect((await read(page, "main")).includes("‹202E›"), "a direction mark is visible");
  note("axe on the hostile team", await checkAccess(page));
  await takePicture("hostile", { fullPage: true });

  await open("teams/expert_router", "#exams", "No results yet");
  const known = problems.length;
  await open("teams/none", "[role=alert]", "no such team");
  expect(await page.$('.empty a[href="#/teams"]'), "a team that is not there has a way back");
  await open("teams/market_analysis/exams/20260101T000000000000Z-9999", "[role=alert]", "no exam");
  problems.splice(known);

  await open("teams/market_analysis", "#exam", "Run");
  await (await page.waitForSelector(".exam-rows button")).click();
  await page.waitForFunction(() => location.hash.startsWith("#/runs/"), { polling: 50 });
  await waitForText(page, ".run-bar", "done|partial|failed");
  note("the row as a run", await read(page, ".run-bar"));
  await takePicture("row");

  const served = given.name.endsWith("aegra") ? "market_analysis" : "code_review"; // a server of the tests has one team
  await open(`teams/${served}`, ".team-ways", "Start with this team");
  await page.click(".team-ways .button");
  await page.waitForFunction((team) => document.querySelector("input[name=team]:checked")?.value === team, { polling: 50 }, served);
  note("a team's page starts a run with it", true);

  await open("", "#start", "Who works on it");
  await page.waitForSelector(".example-of-team");
  await (await page.waitForSelector("button.primary")).hover();
  note("axe on the first page", await checkAccess(page));
  await takePicture("examples");
  await (await page.waitForSelector(".example-of-team")).click();
  await waitForText(page, "#start", "With the example's files");
  expect((await page.$eval("textarea[name=request]", ({ value }) => value)).length > 0, "an example is shown before it starts");
  await takePicture("example");
  await (await page.waitForSelector("form button.primary:not(:disabled)")).click();
  await page.waitForFunction(() => location.hash.startsWith("#/runs/"), { polling: 50 });
  await waitForText(page, ".run-bar", "done|partial|failed");
  note("an example as a run", await read(page, "main p.request, #summary"));
  expect(problems.length === 0, `no problem was logged: ${problems.join("; ") || "none"}`);
});
