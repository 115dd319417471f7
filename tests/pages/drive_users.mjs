// A server with users: the page asks for a token, and says in one line what a wrong one may not do.
import { checkAccess, drive, given, press, read, waitForText, writeRequest } from "./browser.mjs";

await drive(async ({ page, problems, takePicture, note }) => {
  await page.goto(`${given.url}/supervise/`);
  await page.waitForSelector("#token");
  note("without a token", await read(page, "main"));
  note("axe", await checkAccess(page));
  await page.type("#token", "anna@example.org.wrong");
  await press(page, "Use it");
  await waitForText(page, "[role=alert]", "does not know");
  await takePicture("token");
  note("with a wrong token", await read(page, "[role=alert]"));
  await page.waitForSelector("#token");
  await page.$eval("#token", (field) => field.select());
  await page.type("#token", given.token);
  await press(page, "Use it");
  await page.waitForSelector("input[name=team]");
  await waitForText(page, "#runs", "No run yet");
  await writeRequest(page, given.request, given.file);

  const known = problems.length;
  await page.setRequestInterception(true);
  const refuse = (asked) =>
    asked.method() === "POST" && /\/threads$/.test(asked.url())
      ? asked.respond({ status: 403, contentType: "application/json", body: '{"detail": "viewers may not start runs"}' })
      : asked.continue();
  page.on("request", refuse);
  await press(page, "Start");
  await waitForText(page, "main [role=alert]", "not allowed: viewers may not start runs");
  note("a viewer who starts a run", await read(page, "main [role=alert]"));
  page.off("request", refuse);
  await page.setRequestInterception(false);

  await page.evaluate(() => sessionStorage.setItem("supervise-token", "anna@example.org.expired"));
  await press(page, "Start");
  await page.waitForSelector("#token");
  note("a token that is no longer known", await read(page, "main [role=alert]"));
  await takePicture("expired");
  await page.type("#token", given.token);
  await press(page, "Use it");
  await page.waitForFunction(() => !document.querySelector("#token"));
  if ((await page.$eval("textarea[name=request]", (field) => field.value)) !== given.request) throw new Error("the request is lost");
  note("what was written is there again", true);
  problems.splice(known);

  await press(page, "Start");
  await waitForText(page, ".run-bar", "done");
  await page.type("#follow-up textarea", "And the second?");
  await page.evaluate(() => sessionStorage.setItem("supervise-token", "anna@example.org.expired"));
  await page.waitForSelector("#token");
  await page.type("#token", given.token);
  await press(page, "Use it");
  await page.waitForFunction(() => !document.querySelector("#token"));
  const written = await page.$eval("#follow-up textarea", (field) => field.value);
  if (written !== "And the second?" || !(await read(page, ".run-bar")).includes("done")) throw new Error(`a run and its follow-up are lost: ${written}`);
  problems.splice(known);
  note("with the token", await read(page, ".run-bar"));
  const stored = await page.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage), document.cookie]);
  note("kept by the browser: local, session, cookies", stored);
  await press(page, "Forget the token");
  await page.waitForSelector("#token");
  note("forgotten", await page.evaluate(() => Object.keys(sessionStorage)));
  const status = (token) =>
    page.evaluate(
      async (url, headers) => (await fetch(`${url}/supervise/teams/market_analysis`, { headers })).status,
      given.url,
      token ? { Authorization: `Bearer ${token}` } : {},
    );
  note("a team without, with a wrong and with the token", [await status(""), await status("x.y"), await status(given.token)]);
  await page.goto(`${given.url}/supervise/?again#/teams`);
  await page.waitForSelector("#token");
  note("the teams without a token", await read(page, "main"));
});
