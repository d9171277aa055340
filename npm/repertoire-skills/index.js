// Skills for agents: a client of `rep api`, the program that the package of the platform contains.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const ERRORS_BY_CODE = new Map();

/** A call that has no result. */
class RepError extends Error {
  constructor(message, data = {}) {
    super(message);
    this.name = new.target.name;
    this.code = data.code ?? 'UNKNOWN';
    this.remedy = data.remedy;
    this.exit = data.exit ?? 2;
    this.data = data;
  }
}
class Unable extends RepError {}
class NotFound extends Unable {}
class InvalidSkill extends Unable {}
class InvalidArgument extends Unable {}
class Findings extends RepError {}
class Refused extends RepError {}
class ConfirmationRequired extends Refused {}
class Declined extends Refused {}
class RunFailed extends RepError {}
class Cancelled extends RepError {}
class EngineError extends RepError {}

for (const code of ['SKILL_NOT_FOUND', 'FILE_NOT_FOUND', 'TOOL_NOT_FOUND', 'PATH_NOT_FOUND', 'UNKNOWN_RULE']) {
  ERRORS_BY_CODE.set(code, NotFound);
}
ERRORS_BY_CODE.set('VALIDATION_FAILED', InvalidSkill).set('INVALID_SKILL', InvalidSkill);
ERRORS_BY_CODE.set('INVALID_ARGUMENT', InvalidArgument);
ERRORS_BY_CODE.set('CONFIRMATION_REQUIRED', ConfirmationRequired).set('DECLINED', Declined);
const ERRORS_BY_EXIT = { 1: Findings, 2: Unable, 3: Refused, 4: RunFailed, 130: Cancelled };

function errorFromJson(error) {
  const data = error.data ?? {};
  const kind =
    error.code === -32602 ? InvalidArgument : (ERRORS_BY_CODE.get(data.code) ?? ERRORS_BY_EXIT[data.exit] ?? RepError);
  return new kind(error.message, data);
}

/** Returns the path of the program: `REP_BINARY`, or the one in the package of this platform. */
function findRep() {
  if (process.env.REP_BINARY) return process.env.REP_BINARY;
  const name = `repertoire-skills-${process.platform}-${process.arch}`;
  // The static program runs with every C library, so it is the second choice everywhere.
  for (const candidate of process.platform === 'linux' ? [...(isMusl() ? [] : [name]), `${name}-musl`] : [name]) {
    try {
      const folder = path.dirname(require.resolve(`${candidate}/package.json`));
      const program = path.join(folder, process.platform === 'win32' ? 'rep.exe' : 'rep');
      if (fs.existsSync(program)) return program;
    } catch {
      // It is reported below.
    }
  }
  throw new EngineError(`the package \`${name}\` is not installed`, {
    code: 'NOT_INSTALLED',
    remedy: 'install again with optional dependencies, or set REP_BINARY',
  });
}

/** Whether Node itself runs without glibc. */
function isMusl() {
  return process.report?.getReport().header.glibcVersionRuntime === undefined;
}

/** One child process with its unanswered calls. */
class Connection {
  constructor(args) {
    this.pending = new Map();
    this.listeners = new Set();
    this.isClosed = false;
    this.hasAnswered = false;
    this.number = 0;
    this.child = spawn(findRep(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      this.child.once('close', (code, signal) => resolve(`ended during the call (${signal ?? `exit code ${code}`})`));
    });
    this.ended.then((reason) => this.fail(new EngineError(`the engine ${reason}`, { code: 'ENGINE_ENDED', retriable: true })));
    // A write to a child that has ended fails; its end is reported above.
    this.child.stdin.on('error', () => {});
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => this.receive(JSON.parse(line)));
    this.release();
  }

  // A child that answers nothing does not keep the program running.
  release() {
    this.child.unref();
    this.child.stdin.unref?.();
    this.child.stdout.unref?.();
  }

  hold() {
    this.child.ref();
    this.child.stdout.ref?.();
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  call(method, params, { signal, confirm, progress } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = ++this.number;
      const onAbort = () => {
        this.send({ method: 'cancel', params: { id } });
        this.settle(id)?.reject(signal.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const forget = () => signal?.removeEventListener('abort', onAbort);
      this.pending.set(id, { resolve, reject, confirm, progress, forget });
      this.hold();
      this.send({ id, method, params });
    });
  }

  settle(id) {
    const call = this.pending.get(id);
    if (!call) return undefined;
    this.pending.delete(id);
    call.forget();
    if (this.pending.size === 0 && this.listeners.size === 0) this.release();
    return call;
  }

  receive(message) {
    if (message.method === 'confirm') return void this.answerQuestion(message);
    if (message.method === 'progress') return this.pending.get(message.params.id)?.progress?.(message.params);
    if (message.method === 'library/changed') {
      for (const listener of this.listeners) listener(message.params);
      return undefined;
    }
    this.hasAnswered = true;
    const call = this.settle(message.id);
    if (!call) return undefined;
    return message.error ? call.reject(errorFromJson(message.error)) : call.resolve(message.result);
  }

  async answerQuestion({ id, params }) {
    let answer = 'no';
    try {
      const decided = await this.pending.get(params.request)?.confirm?.(params);
      answer = decided === 'always' ? 'always' : decided === true ? 'yes' : 'no';
    } catch {
      // A caller that fails to decide does not agree.
    }
    this.send({ id, result: { answer } });
  }

  fail(error) {
    this.isClosed = true;
    for (const id of [...this.pending.keys()]) this.settle(id).reject(error);
    for (const listener of this.listeners) listener(undefined, error);
    this.listeners.clear();
  }

  async close() {
    this.fail(new EngineError('the library was closed', { code: 'CLOSED' }));
    this.child.ref();
    this.child.stdin.end();
    const late = setTimeout(() => this.child.kill('SIGKILL'), 2000);
    await this.ended;
    clearTimeout(late);
  }
}

function commandLine({ paths = [], project, home, managed, precedence, trust, lenient, for_model: forModel }) {
  const args = ['api', ...paths.map((one) => `--path=${one}`)];
  for (const [flag, value] of Object.entries({ project, home, managed, precedence })) {
    if (value !== undefined) args.push(`--${flag}=${value}`);
  }
  if (trust) args.push('--trust');
  if (lenient) args.push('--lenient');
  if (forModel) args.push('--for-model');
  return args;
}

/** The skills of some paths, or of a project and its user. One child process answers all calls. */
class Library {
  #args;
  #caller;
  #connection;
  #failures = 0;
  #isClosed = false;

  constructor(options = {}) {
    this.#args = commandLine(options);
    this.#caller = options.caller;
  }

  #connect() {
    if (this.#isClosed) throw new EngineError('the library is closed', { code: 'CLOSED' });
    const known = this.#connection;
    if (known && !known.isClosed) return known;
    if (known) {
      this.#failures = known.hasAnswered ? 0 : this.#failures + 1;
      if (this.#failures > 1) throw new EngineError('the engine ended again and again', { code: 'ENGINE_ENDED' });
    }
    this.#connection = new Connection(this.#args);
    return this.#connection;
  }

  async #call(method, params = {}, { signal, confirm, onProgress } = {}) {
    return this.#connect().call(method, params, { signal, confirm, progress: onProgress });
  }

  hello(options) {
    return this.#call('hello', { client: 'node' }, options);
  }

  async skills({ status = 'active', ...options } = {}) {
    const { skills } = await this.#call('list', {}, options);
    return status === 'all' ? skills : skills.filter((skill) => skill.status === status);
  }

  show(skill, options) {
    return this.#call('show', { skill }, options);
  }

  prompt({ budget, style, locations = true, ...options } = {}) {
    return this.#call('prompt', { budget, style, no_location: !locations }, options);
  }

  async read(skill, file, options) {
    const read = await this.#call('read', { skill, file }, options);
    return read.base64 === undefined ? read.text : Buffer.from(read.base64, 'base64').toString();
  }

  async readBytes(skill, file, options) {
    const read = await this.#call('read', { skill, file }, options);
    return read.base64 === undefined ? Buffer.from(read.text) : Buffer.from(read.base64, 'base64');
  }

  async search(text, { limit, minScore, ...options } = {}) {
    return (await this.#call('search', { text, limit, min_score: minScore }, options)).results;
  }

  async select(text, { files, intents, skills, threshold, fallback, ...options } = {}) {
    return (await this.#call('select', { text, files, intents, skills, threshold, fallback }, options)).selected;
  }

  async query(query, options) {
    const answer = await this.#call('query', { query }, options);
    if (answer.found) return answer;
    const data = { ...answer.error, exit: 1, suggestions: answer.suggestions ?? [] };
    throw errorFromJson({ message: answer.error.message, data });
  }

  ask(skill, question, about, options) {
    return this.#call('ask', { skill, question, about }, options);
  }

  check(paths, { profiles, select, ignore, onProgress, ...options } = {}) {
    const params = { paths, profiles, select, ignore, progress: onProgress !== undefined };
    return this.#call('check', params, { ...options, onProgress });
  }

  scan(paths, { onProgress, ...options } = {}) {
    return this.#call('scan', { paths, progress: onProgress !== undefined }, { ...options, onProgress });
  }

  tools(skill, options) {
    return this.#call('tools', { skill }, options);
  }

  run(skill, tool, input = {}, options = {}) {
    return this.#run('run', { skill, tool, input }, options);
  }

  async runScript(skill, script, args = [], options = {}) {
    return (await this.#run('run_script', { skill, script, args }, options)).result;
  }

  #run(method, params, { approve = false, workspace, timeout, caller = this.#caller, signal, onProgress }) {
    const confirm = typeof approve === 'function' ? approve : undefined;
    const all = { ...params, approve: confirm ? 'ask' : approve, workspace, timeout, caller, progress: onProgress !== undefined };
    return this.#call(method, all, { signal, confirm, onProgress });
  }

  policy(skill, { tool, ...options } = {}) {
    return this.#call('policy', { skill, tool }, options);
  }

  async audit({ skill, since, limit, ...options } = {}) {
    return (await this.#call('audit', { skill, since, limit }, options)).runs;
  }

  reload(options) {
    return this.#call('reload', {}, options);
  }

  /** Yields a change whenever skills changed. Files are watched when the promise resolves. */
  async watch({ signal } = {}) {
    const connection = this.#connect();
    const { library } = await connection.call('watch', {}, { signal });
    const waiting = [];
    let wake = () => {};
    const listener = (change, error) => {
      if (error || change.library === library) waiting.push({ change, error });
      wake();
    };
    const stop = () => {
      connection.listeners.delete(listener);
      if (connection.pending.size === 0 && connection.listeners.size === 0) connection.release();
    };
    const onAbort = () => listener(undefined, signal.reason);
    connection.listeners.add(listener);
    connection.hold();
    signal?.addEventListener('abort', onAbort, { once: true });
    return (async function* changes() {
      try {
        for (;;) {
          while (waiting.length === 0) await new Promise((resolve) => (wake = resolve));
          const { change, error } = waiting.shift();
          if (error) throw error;
          yield change;
        }
      } finally {
        signal?.removeEventListener('abort', onAbort);
        stop();
      }
    })();
  }

  /** Ends the child process. Calls that wait fail. */
  async close() {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.close();
  }
}

module.exports = {
  Cancelled,
  ConfirmationRequired,
  Declined,
  EngineError,
  Findings,
  InvalidArgument,
  InvalidSkill,
  Library,
  NotFound,
  Refused,
  RepError,
  RunFailed,
  Unable,
  findRep,
};
