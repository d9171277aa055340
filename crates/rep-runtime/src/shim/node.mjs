// Calls a function in a skill's file: reads the arguments from stdin as JSON, writes the framed result to stdout.
//
// Usage: node.mjs ENTRYPOINT HANDLER FRAME. Output of the tool itself goes to stderr; output that
// still reaches stdout is distinguished by the frame.
import fs from "node:fs";
import nodeModule from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const MESSAGE_MAX = 4000;
const [entrypoint, handler, frame] = process.argv.slice(2);
const skill = process.env.REP_SKILL;
process.stdout.write = process.stderr.write.bind(process.stderr);

class ToolError extends Error {
  constructor(message, { code = "TOOL_FAILED", retriable = false, details } = {}) {
    super(message);
    Object.assign(this, { code, retriable, details });
  }
}

// Packages installed for the skill. `require` finds them through NODE_PATH. For `import`, this hook retries a name that
// was not found from their directory.
const packages = process.env.REP_PACKAGES;
if (packages !== undefined && typeof nodeModule.register === "function") {
  const hook = `const base = ${JSON.stringify(pathToFileURL(path.join(packages, "any.mjs")).href)};
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (problem) {
    if (problem?.code !== "ERR_MODULE_NOT_FOUND" || /^([./#]|[a-z]+:)/.test(specifier)) throw problem;
    return await next(specifier, { ...context, parentURL: base }).catch(() => { throw problem; });
  }
}`;
  nodeModule.register(`data:text/javascript,${encodeURIComponent(hook)}`);
}

function write(descriptor, text) {
  let data = Buffer.from(text);
  while (data.length > 0) {
    try {
      data = data.subarray(fs.writeSync(descriptor, data));
    } catch (problem) {
      if (problem.code !== "EAGAIN") throw problem;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

let isOver = false;
function finish(text, code) {
  if (isOver) return;
  isOver = true;
  write(1, `\u001e${frame}\n${text}\n`);
  process.exit(code);
}

function envelope(code, message, more = {}) {
  const error = { code, message: String(message).slice(0, MESSAGE_MAX), retriable: false };
  for (const [key, value] of Object.entries(more)) if (value !== undefined && value !== null) error[key] = value;
  return { status: "error", error };
}

// Returns the value if JSON can represent it.
function plain(value) {
  try {
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

// Returns the envelope of a thrown value: its details, and where in the skill it was thrown.
function described(problem) {
  if (!(problem instanceof Error)) {
    const given = problem !== null && typeof problem === "object" ? problem : { message: String(problem) };
    return described(Object.assign(new ToolError(given.message ?? "the tool failed"), given));
  }
  const isOfSystem = problem.syscall !== undefined || /^ERR_/.test(problem.code ?? "");
  const isKnown = typeof problem.code === "string" && /^[A-Z][A-Z0-9_]*$/.test(problem.code) && !isOfSystem;
  const place = String(problem.stack ?? "")
    .split("\n")
    .map((line) => line.match(/((?:file:\/\/)?\/[^\s()]+?):(\d+)(?::\d+)?\)?$/))
    .find((match) => match && decodeURI(match[1]).replace("file://", "").startsWith(skill + path.sep));
  const more = {
    type: problem instanceof ToolError ? undefined : problem.name,
    at: place && `${path.relative(skill, decodeURI(place[1]).replace("file://", ""))}:${place[2]}`,
    errno: problem.syscall !== undefined ? problem.code : undefined,
    details: plain(problem.details),
    retriable: typeof problem.retriable === "boolean" ? problem.retriable : undefined,
  };
  return envelope(isKnown ? problem.code : "TOOL_FAILED", problem.message || problem.name, more);
}

function fail(problem) {
  if (!(problem instanceof ToolError)) process.stderr.write(`${problem?.stack ?? problem}\n`);
  finish(JSON.stringify(described(problem)), 1);
}

const log = {};
for (const level of ["debug", "info", "warning", "error"]) {
  log[level] = (message, fields = {}) =>
    process.stderr.write(`${JSON.stringify({ level, message: String(message), ...fields })}\n`);
}
log.warn = log.warning;

let unread = Buffer.alloc(0);
async function callTool(tool, args = {}) {
  if (process.env.REP_CHANNEL === undefined) {
    throw new ToolError("this host does not support calling other tools", { code: "UNAVAILABLE" });
  }
  const channel = Number(process.env.REP_CHANNEL);
  write(channel, `${JSON.stringify({ tool, args })}\n`);
  while (!unread.includes(10)) {
    const block = Buffer.alloc(65536);
    const count = fs.readSync(channel, block);
    if (count === 0) throw new ToolError("the host closed the channel", { code: "UNAVAILABLE" });
    unread = Buffer.concat([unread, block.subarray(0, count)]);
  }
  const end = unread.indexOf(10);
  const answer = JSON.parse(unread.subarray(0, end).toString());
  unread = unread.subarray(end + 1);
  if (answer.error) throw new ToolError(answer.error.message, { ...answer.error, details: answer.error });
  return answer.result;
}

// On SIGTERM, a tool that listens for it gets time to clean up; any other tool exits immediately.
const controller = new AbortController();
let isWatched = false;
process.on("SIGTERM", () => {
  controller.abort();
  if (!isWatched && process.listenerCount("SIGTERM") === 1) process.exit(143);
});

const ctx = {
  paths: { skill, workspace: process.env.REP_WORKSPACE, tmp: process.env.TMPDIR ?? os.tmpdir() },
  tool: process.env.REP_TOOL ?? "",
  log,
  logger: log,
  error: (message, options) => new ToolError(message, options),
  call_tool: callTool,
  callTool,
  get signal() {
    isWatched = true;
    return controller.signal;
  },
};

function find(module) {
  const places = [module, module.default];
  for (const place of places) {
    const found = handler.split(".").reduce((from, part) => from?.[part], place);
    if (typeof found === "function") return found.bind(place === module ? undefined : place);
  }
  if (handler === "handler" && typeof module.default === "function") return module.default;
  const names = new Set(
    places.flatMap((place) => Object.entries(place ?? {}))
      .filter(([, value]) => typeof value === "function")
      .map(([name]) => name),
  );
  const there = [...names].filter((name) => name !== "default" && name !== "module.exports").sort().join(", ") || "none";
  throw new ToolError(`the entrypoint has no function \`${handler}\`; its functions: ${there}`, {
    code: "HANDLER_NOT_FOUND",
  });
}

// Encodes JSON, and reports values that `JSON.stringify` would silently turn into null.
function encoded(result) {
  const checked = (_, value) => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new TypeError(`${value} is not a number that JSON can represent`);
    }
    return value;
  };
  try {
    return [JSON.stringify(result ?? null, checked) ?? "null", 0];
  } catch (problem) {
    const told = problem.message.split("\n")[0];
    return [JSON.stringify(envelope("INVALID_RESULT", `the result cannot be written as JSON: ${told}`)), 1];
  }
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
try {
  const args = JSON.parse(fs.readFileSync(0, "utf8"));
  const module = await import(pathToFileURL(entrypoint).href);
  process.argv.splice(1, Infinity, entrypoint);
  const result = await find(module)(args, ctx);
  finish(...encoded(result));
} catch (problem) {
  fail(problem);
}
