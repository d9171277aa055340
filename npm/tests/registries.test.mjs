// The packages in a registry on this machine, installed by npm, pnpm, yarn and bun. `REP_NPM_TOOLS` names a directory in
// which `npm install verdaccio pnpm yarn bun typescript` was run; `.ci/registries` makes one.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const tools = process.env.REP_NPM_TOOLS;
const version = JSON.parse(fs.readFileSync(path.join(repository, 'npm/repertoire-skills/package.json'), 'utf8')).version;

/** The path of a program in the directory of tools, or undefined. */
function findTool(name) {
  const program = tools && path.join(tools, 'node_modules/.bin', name);
  return program && fs.existsSync(program) ? program : undefined;
}

function isMusl() {
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** Starts a registry that knows no other one, and resolves to its address. */
async function startRegistry(t, root) {
  const config = path.join(root, 'verdaccio.yaml');
  fs.writeFileSync(
    config,
    `storage: ${root}/storage
auth: {htpasswd: {file: ${root}/htpasswd}}
uplinks: {}
packages: {'**': {access: $all, publish: $authenticated}}
max_body_size: 200mb
log: {type: stderr, level: warn}
`,
  );
  const main = path.join(tools, 'node_modules/verdaccio/bin/verdaccio');
  const environment = { ...process.env, HOME: root };
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const port = 20000 + Math.floor(Math.random() * 30000);
    const address = `http://127.0.0.1:${port}/`;
    const child = spawn(process.execPath, [main, '--config', config, '--listen', address], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: environment,
    });
    const ended = new Promise((resolve) => child.once('exit', () => resolve(true)));
    for (;;) {
      const answered = await fetch(`${address}-/ping`, { headers: { connection: 'close' } }).then(
        (response) => response.ok,
        () => false,
      );
      if (answered) {
        t.after(() => child.kill());
        return address;
      }
      const isOver = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100, false))]);
      if (isOver) break;
    }
  }
  throw new Error('the registry does not start');
}

/** Registers a user and returns the lines of an .npmrc. */
async function signIn(address) {
  const response = await fetch(`${address}-/user/org.couchdb.user:tester`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ name: 'tester', password: 'a password of 2 words' }),
  });
  const { token } = await response.json();
  return `registry=${address}\n//${new URL(address).host}/:_authToken=${token}\n`;
}

/** Builds the package of this platform around the program, those of the others around something that never starts. */
function buildPackages(root) {
  const out = path.join(root, 'packages');
  const build = (program, ...flags) => {
    const script = path.join(repository, 'npm/build_packages.mjs');
    execFileSync(process.execPath, [script, program, out, ...flags], { stdio: 'pipe' });
  };
  const foreign = path.join(root, 'foreign');
  fs.writeFileSync(foreign, 'a program of another platform\n', { mode: 0o755 });
  const program = path.join(root, 'rep');
  fs.copyFileSync(process.env.REP_BINARY, program);
  for (const arch of ['x64', 'arm64']) {
    for (const libc of ['glibc', 'musl']) {
      const isOurs = process.arch === arch && (libc === 'musl') === isMusl();
      build(isOurs ? program : foreign, '--platform', 'linux', '--arch', arch, '--libc', libc);
    }
  }
  return fs.readdirSync(out).map((file) => path.join(out, file));
}

test('npm, pnpm, yarn and bun install the packages from a registry, without scripts', async (t) => {
  if (!findTool('verdaccio')) {
    console.error('SKIPPED: REP_NPM_TOOLS has no verdaccio, so no registry was tried');
    return;
  }
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'rep-registry-')));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  const address = await startRegistry(t, root);
  const npmrc = await signIn(address);
  const environment = { ...process.env, HOME: root, npm_config_cache: path.join(root, 'cache'), CI: '1' };
  for (const name of ['REP_BINARY', 'npm_config_registry', 'NODE_OPTIONS']) delete environment[name];
  fs.writeFileSync(path.join(root, '.npmrc'), npmrc);
  const packages = buildPackages(root);
  assert.equal(packages.length, 5);
  for (const file of packages) {
    execFileSync('npm', ['publish', '--silent', '--userconfig', path.join(root, '.npmrc'), file], { env: environment, stdio: 'pipe' });
  }
  const listed = await (await fetch(`${address}repertoire-skills`, { headers: { connection: 'close' } })).json();
  assert.equal(listed.versions[version].scripts, undefined, 'no package has a script');
  const installers = {
    npm: [['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], ['npm', 'ci', '--ignore-scripts', '--silent']],
    pnpm: [[findTool('pnpm'), 'install', '--ignore-scripts', '--silent', '--store-dir', path.join(root, 'pnpm-store')]],
    yarn: [[findTool('yarn'), 'install', '--ignore-scripts', '--cache-folder', path.join(root, 'yarn-cache')]],
    bun: [[findTool('bun'), 'install', '--ignore-scripts', '--silent', '--registry', address]],
  };
  const name = `repertoire-skills-${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
  const program = `
    import { Library } from 'repertoire-skills';
    import { createRequire } from 'node:module';
    const library = new Library({ paths: [${JSON.stringify(path.join(repository, 'examples'))}] });
    console.log((await library.query('slugify:meta.name')).value, createRequire(import.meta.url)('repertoire-skills').findRep());
    await library.close();`;
  for (const [installer, commands] of Object.entries(installers)) {
    if (!commands[0][0]) {
      console.error(`SKIPPED: ${installer} is not installed in REP_NPM_TOOLS`);
      continue;
    }
    const project = path.join(root, installer);
    fs.mkdirSync(project);
    const manifest = { private: true, type: 'module', dependencies: { 'repertoire-skills': version } };
    fs.writeFileSync(path.join(project, 'package.json'), JSON.stringify(manifest));
    fs.writeFileSync(path.join(project, '.npmrc'), npmrc);
    fs.writeFileSync(path.join(project, 'main.mjs'), program);
    for (const [command, ...words] of commands) {
      execFileSync(command, words, { cwd: project, env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
    }
    const printed = execFileSync(process.execPath, ['main.mjs'], { cwd: project, env: environment, encoding: 'utf8' });
    const [value, found] = printed.trim().split(' ');
    assert.equal(value, 'slugify', installer);
    assert.match(found, new RegExp(`/${name}/rep$`), `${installer} installed the package of this platform`);
    const rep = path.join(project, 'node_modules/.bin/rep');
    assert.equal(execFileSync(rep, ['--version'], { env: environment, encoding: 'utf8' }), `rep ${version}\n`, installer);
  }
});

/** Makes a directory in which TypeScript finds the package and the types of Node. */
function makeTypedProject(t) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'rep-types-')));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.mkdirSync(path.join(root, 'node_modules/@types'), { recursive: true });
  fs.symlinkSync(path.join(repository, 'npm/repertoire-skills'), path.join(root, 'node_modules/repertoire-skills'));
  for (const dependency of ['@types/node', 'undici-types']) {
    fs.symlinkSync(path.join(tools, 'node_modules', dependency), path.join(root, 'node_modules', dependency));
  }
  return root;
}

function compileTypes(root, ...files) {
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--moduleResolution', 'nodenext', '--types', 'node'];
  try {
    execFileSync(process.execPath, [findTool('tsc'), ...flags, ...files], { cwd: root, encoding: 'utf8' });
  } catch (error) {
    assert.fail(error.stdout);
  }
}

/** Sends requests to the program and returns their results, in order. */
function askAll(root, requests) {
  const home = path.join(root, 'home');
  fs.mkdirSync(home);
  const environment = { ...process.env, HOME: home };
  for (const name of ['XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME']) delete environment[name];
  return requests.map(([method, params], id) => {
    // The end of the input cancels runs, so it comes after the answer.
    const program = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.env.REP_BINARY, ['api', '--path', 'examples'], { stdio: ['pipe', 'pipe', 'inherit'] });
      const lines = require('node:readline').createInterface({ input: child.stdout });
      lines.on('line', (line) => { if (JSON.parse(line).id === ${id}) { console.log(line); child.stdin.end(); } });
      child.stdin.write(process.argv[1] + '\\n');`;
    const request = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const printed = execFileSync(process.execPath, ['-e', program, request], { cwd: repository, env: environment, encoding: 'utf8' });
    const answer = JSON.parse(printed);
    assert.ok(answer.result, printed);
    return answer.result;
  });
}

test('every answer of the program has the type of its method', (t) => {
  if (!findTool('tsc')) {
    console.error('SKIPPED: REP_NPM_TOOLS has no typescript, so no answer was compared with its type');
    return;
  }
  const root = makeTypedProject(t);
  const description = fs.readFileSync(path.join(repository, 'schemas/api.d.ts'), 'utf8');
  const results = Object.fromEntries([...description.matchAll(/@method (\w+)\n \* @result (\w+)/g)].map((found) => found.slice(1)));
  const questions = JSON.parse(fs.readFileSync(path.join(repository, 'python/tests/questions.json'), 'utf8'));
  assert.deepEqual(Object.keys(questions).sort(), Object.keys(results).sort());
  const requests = Object.entries(questions).flatMap(([method, all]) => all.map((params) => [method, params]));
  // A literal with a field that its type does not have is an error.
  const answers = askAll(root, requests).map(
    (result, number) => `export const answer${number}: types.${results[requests[number][0]]} = ${JSON.stringify(result)};\n`,
  );
  fs.writeFileSync(path.join(root, 'answers.mts'), `import type * as types from 'repertoire-skills';\n${answers.join('')}`);
  compileTypes(root, 'answers.mts');
});

test('TypeScript accepts the types, in ESM and CommonJS', (t) => {
  if (!findTool('tsc')) {
    console.error('SKIPPED: REP_NPM_TOOLS has no typescript, so the types were not compiled');
    return;
  }
  const root = makeTypedProject(t);
  const body = `
async function main(): Promise<void> {
  const library = new Library({ paths: ['examples'], caller: { framework: 'test' } });
  const names: string[] = (await library.skills()).map((skill) => skill.name);
  const verdicts: ('clear' | 'review' | 'block')[] = (await library.scan()).skills.map((skill) => skill.verdict);
  const result: types.ScriptResult = await library.runScript('slugify', 'scripts/slugify.py', ['x'], {
    approve: async (question) => question.text.length > 0,
    signal: AbortSignal.timeout(1000),
  });
  // @ts-expect-error: a skill has a name, not a title
  console.log((await library.skills())[0].title, names, verdicts, result.returncode);
  await library.read('x').catch((error: unknown) => error instanceof NotFound && error.remedy);
  await library.close();
}
void main();
`;
  fs.writeFileSync(path.join(root, 'esm.mts'), `import { Library, NotFound, type ScriptResult } from 'repertoire-skills';\nimport type * as types from 'repertoire-skills';\n${body}`);
  fs.writeFileSync(path.join(root, 'cjs.cts'), `import { Library, NotFound } from 'repertoire-skills';\nimport type * as types from 'repertoire-skills';\n${body}`);
  compileTypes(root, 'esm.mts', 'cjs.cts');
});
