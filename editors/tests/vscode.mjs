// Drives the extension in a real VS Code (code-server with Chromium), and prints what happened. Called by `editors.sh`:
//   vscode.mjs URL SKILL.md, with NODE_PATH on playwright-core.
// The SKILL.md has one finding with a fix. Exits with 1 if a step does not happen.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const [url, file] = process.argv.slice(2);
const WAIT = { timeout: 60000 };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });

async function runCommand(title) {
  await page.keyboard.press("F1");
  await page.waitForSelector(".quick-input-widget input", WAIT);
  await page.keyboard.type(title);
  await page.waitForSelector(`.quick-input-list .monaco-list-row:has-text("${title}")`, WAIT);
  await page.keyboard.press("Enter");
}

async function openFile() {
  await page.keyboard.press("Control+P");
  await page.waitForSelector(".quick-input-widget input", WAIT);
  await page.keyboard.type(path.basename(path.dirname(file)) + "/SKILL.md");
  await page.waitForSelector('.quick-input-list .monaco-list-row:has-text("SKILL.md")', WAIT);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".editor-instance .view-lines", WAIT);
}

async function waitProblem(text, state = "visible") {
  await page.waitForSelector(`.markers-panel .monaco-list-row:has-text("${text}")`, { ...WAIT, state });
}

async function waitSaved(condition, what) {
  for (let round = 0; round < 300; round++) {
    if (condition(fs.readFileSync(file, "utf8"))) return;
    await page.waitForTimeout(100);
  }
  throw new Error(`${what}; the file is:\n${fs.readFileSync(file, "utf8")}`);
}

try {
  await page.goto(url);
  await page.waitForSelector(".monaco-workbench .statusbar", WAIT);
  await page.waitForTimeout(2000);
  await openFile();
  const language = await page.evaluate(() => document.querySelector("#status\\.editor\\.mode")?.innerText);
  console.log(`language: ${language}`);
  await page.keyboard.press("Control+Shift+M");
  await waitProblem("must be quoted");
  const problems = await page.evaluate(() => [...document.querySelectorAll(".markers-panel .monaco-list-row")].map((row) => row.innerText.replace(/\s+/g, " ")));
  console.log(`problems: ${JSON.stringify(problems)}`);
  await runCommand("Repertoire: Explain a Finding");
  await page.waitForSelector('.tab:has-text("yaml-value-unquoted.md")', WAIT);
  console.log("explained: yaml-value-unquoted.md");
  await openFile();
  await runCommand("Repertoire: Fix All Safe Findings");
  await page.waitForSelector(".markers-panel .monaco-list-row:has-text('must be quoted')", { ...WAIT, state: "detached" });
  await page.keyboard.press("Control+S");
  await waitSaved((text) => text.includes("description: 'Fills"), "the fix was not saved");
  console.log("fixed and saved");
  await page.keyboard.press("Control+G");
  await page.waitForSelector(".quick-input-widget input", WAIT);
  await page.keyboard.type("2");
  await page.waitForSelector('.quick-input-list .monaco-list-row:has-text("line 2")', WAIT);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".quick-input-widget input", { ...WAIT, state: "hidden" });
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("lic");
  await page.keyboard.press("Control+Space");
  await page.waitForSelector('.suggest-widget.visible .monaco-list-row:has-text("license")', WAIT);
  await page.keyboard.press("Enter");
  await page.keyboard.type("MIT");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+S");
  await waitSaved((text) => /\nlicense: ?MIT/.test(text), "the completion was not saved");
  console.log("completed: license");
  // VS Code reports missing links of skills itself, and the extension does not repeat them.
  await page.keyboard.press("Control+End");
  await page.keyboard.type("[x](nope.md)");
  await page.keyboard.press("Escape");
  await waitProblem("nope.md");
  await page.waitForTimeout(3000);
  const links = await page.locator('.markers-panel .monaco-list-row:has-text("nope.md")').allInnerTexts();
  console.log(`problems of the link: ${JSON.stringify(links.map((row) => row.replace(/\s+/g, " ")))}`);
  if (links.length !== 1) throw new Error(`the missing link is reported ${links.length} times`);
  await runCommand("Repertoire: Show What the Model Sees");
  await page.waitForSelector('.tab:has-text("what the model sees")', WAIT);
  console.log("shown: what the model sees");
} catch (error) {
  await page.screenshot({ path: process.env.SCREENSHOT || "vscode-failed.png" });
  console.error(String(error));
  process.exitCode = 1;
} finally {
  await browser.close();
}
