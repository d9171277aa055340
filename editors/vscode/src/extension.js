// Starts `rep lsp` and adds the commands that a language server cannot have. Tests run only on the user's command, and
// only in a trusted workspace.
"use strict";

const path = require("node:path");
const { execFile } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const SELECTOR = [
  { scheme: "file", language: "skill" },
  { scheme: "file", language: "markdown", pattern: "**/SKILL.md" },
  { scheme: "file", language: "markdown", pattern: "**/skills/**/*.md" },
  { scheme: "file", language: "yaml", pattern: "**/*.uasp.yaml" },
];

/** The scheme of documents that show what a model sees. */
const VIEW_SCHEME = "repertoire-view";

/** The longest output of `rep` that is shown. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

let client;

/** Returns the path of the binary: that of the settings, or else the one in the extension. */
function binaryPath(context) {
  const chosen = vscode.workspace.getConfiguration("repertoire").get("path");
  return chosen || context.asAbsolutePath(path.join("bin", process.platform === "win32" ? "rep.exe" : "rep"));
}

/** Runs `rep` without a shell and returns its output. */
function runBinary(context, args) {
  return new Promise((resolve, reject) => {
    execFile(binaryPath(context), args, { maxBuffer: OUTPUT_BYTES_MAX }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(error);
      else resolve(stdout || stderr);
    });
  });
}

/** Returns the directory of a skill: the argument of a code lens, or else that of the active document. */
async function findSkill(folder) {
  if (typeof folder === "string" && path.isAbsolute(folder)) return folder;
  const document = vscode.window.activeTextEditor?.document;
  if (document?.uri.scheme !== "file") return undefined;
  if (document.fileName.endsWith(".uasp.yaml")) return document.fileName;
  for (let at = path.dirname(document.fileName); ; at = path.dirname(at)) {
    try {
      await vscode.workspace.fs.stat(vscode.Uri.file(path.join(at, "SKILL.md")));
      return at;
    } catch {
      if (path.dirname(at) === at) return undefined;
    }
  }
}

/** Applies all safe fixes to the active document. */
async function fixAll() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const kind = vscode.CodeActionKind.SourceFixAll.append("repertoire");
  const whole = new vscode.Range(0, 0, editor.document.lineCount, 0);
  const uri = editor.document.uri;
  const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, whole, kind.value);
  const edit = actions?.find((action) => action.edit)?.edit;
  if (edit) await vscode.workspace.applyEdit(edit);
  else vscode.window.setStatusBarMessage("Repertoire: nothing to fix", 3000);
}

/** Shows the page of a rule: the argument, or else that of the finding at the cursor, or else one that the user picks. */
async function explain(rule) {
  let name = typeof rule === "string" ? rule : undefined;
  const editor = vscode.window.activeTextEditor;
  if (!name && editor) {
    const own = vscode.languages.getDiagnostics(editor.document.uri).filter((one) => one.source === "repertoire");
    const rules = (list) => [...new Set(list.map((one) => (typeof one.code === "object" ? one.code.value : one.code)))];
    const here = rules(own.filter((one) => one.range.contains(editor.selection.active)));
    const offered = here.length ? here : rules(own);
    name = offered.length > 1 ? await vscode.window.showQuickPick(offered) : offered[0];
  }
  if (!name) return;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(`repertoire://rules/${name}.md`));
  await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
}

/** Shows the entry of a skill in the list of skills, and its text when it is used. */
async function showModelView(folder) {
  const skill = await findSkill(folder);
  if (!skill) return;
  const uri = vscode.Uri.from({ scheme: VIEW_SCHEME, path: `${skill}/what the model sees.md` });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
}

/** Runs the tests of a skill in the sandbox, as a task. */
async function runTests(context, folder) {
  const skill = await findSkill(folder);
  if (!skill) return;
  if (!vscode.workspace.isTrusted) {
    vscode.window.showWarningMessage("Tests run the code of the skill. Trust the workspace to run them.");
    return;
  }
  const execution = new vscode.ProcessExecution(binaryPath(context), ["test", skill], { cwd: path.dirname(skill) });
  const definition = { type: "repertoire" };
  const name = `Test ${path.basename(skill)}`;
  const task = new vscode.Task(definition, vscode.TaskScope.Workspace, name, "Repertoire", execution, []);
  await vscode.tasks.executeTask(task);
}

async function activate(context) {
  const serverOptions = { command: binaryPath(context), args: ["lsp"], transport: TransportKind.stdio };
  const commands = ["repertoire.explain", "repertoire.showModelView", "repertoire.runTests"];
  client = new LanguageClient("repertoire", "Repertoire", serverOptions, {
    documentSelector: SELECTOR,
    initializationOptions: { commands },
  });
  const views = {
    provideTextDocumentContent: async (uri) => {
      const skill = path.dirname(uri.path);
      const listed = await runBinary(context, ["prompt", "--path", skill]);
      const used = await runBinary(context, ["read", skill]);
      return `${listed}\n${used}`;
    },
  };
  const pages = {
    provideTextDocumentContent: (uri) => runBinary(context, ["explain", path.basename(uri.path, ".md")]),
  };
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(VIEW_SCHEME, views),
    vscode.workspace.registerTextDocumentContentProvider("repertoire", pages),
    vscode.commands.registerCommand("repertoire.fixAll", fixAll),
    vscode.commands.registerCommand("repertoire.explain", explain),
    vscode.commands.registerCommand("repertoire.showModelView", showModelView),
    vscode.commands.registerCommand("repertoire.runTests", (folder) => runTests(context, folder)),
    vscode.commands.registerCommand("repertoire.restart", () => client.restart()),
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
