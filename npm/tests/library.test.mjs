// The npm client over the real program. `REP_BINARY` names it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { ConfirmationRequired, Declined, EngineError, InvalidArgument, Library, NotFound, Refused } from '../repertoire-skills/index.mjs';

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const PDF = '---\nname: pdf\ndescription: Fills PDF forms. Use when the user brings a form.\n---\n\n# PDF\n\n1. Fill it.\n';
const CAREFUL = `---
name: careful
version: 1.0.0
spec_version: "2.1.0"
description: Greets with care. Use when a greeting must be confirmed.
tools:
  - name: greet
    description: Greets.
    version: 1.0.0
    input_schema: {type: object, properties: {who: {type: string}}, required: [who]}
    output_schema: {type: object, properties: {text: {type: string}}, required: [text]}
    implementation: {runtime: bash, entrypoint: scripts/greet.sh}
    confirmation: {level: always, prompt: "Greet somebody?"}
---
# Careful
`;

function scratch(t) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'rep-npm-')));
  const kept = { ...process.env };
  t.after(() => (process.env = kept));
  for (const name of ['XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'DBUS_SESSION_BUS_ADDRESS']) delete process.env[name];
  fs.mkdirSync(path.join(root, 'home'));
  process.env.HOME = path.join(root, 'home');
  process.env.A_TOKEN = 'tops3cret-value';
  const write = (file, text) => {
    const full = path.join(root, 'skills', file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text);
  };
  write('pdf/SKILL.md', PDF);
  write('pdf/logo.bin', Buffer.from([255, 0]));
  write('pdf/scripts/env.sh', 'printf "%s|" "$@"; printf "%s" "$A_TOKEN"; exit 5\n');
  write('pdf/scripts/wait.sh', 'while :; do read -t 1 || true; done < /dev/zero\n');
  write('careful/SKILL.md', CAREFUL);
  write('careful/scripts/greet.sh', 'read -r input; echo \'{"text": "hello"}\'\n');
  const library = new Library({ paths: [path.join(root, 'skills')], caller: { framework: 'node-test', call: 'c1' } });
  t.after(async () => {
    // A run that was cancelled writes its record until the child ends.
    await library.close();
    fs.rmSync(root, { recursive: true });
  });
  return { root, write, library };
}

test('skills are listed, read, searched and queried', async (t) => {
  const { library } = scratch(t);
  assert.deepEqual((await library.skills()).map((skill) => skill.name), ['careful', 'pdf']);
  assert.match(await library.read('pdf'), /1\. Fill it\./);
  assert.deepEqual([...(await library.readBytes('pdf', 'logo.bin'))], [255, 0]);
  assert.equal((await library.search('fill in a form'))[0].name, 'pdf');
  assert.equal((await library.query('pdf:meta.name')).value, 'pdf');
  assert.deepEqual((await library.prompt({ budget: 1000 })).dropped, []);
  assert.equal((await library.check()).summary.skills, 2);
  const scanned = await library.scan();
  assert.deepEqual(scanned.skills.map((skill) => skill.name), ['careful', 'pdf']);
  assert.deepEqual(scanned.skills[1].capabilities.secrets, ['A_TOKEN']);
  assert.equal((await library.select('use pdf to fill it'))[0].name, 'pdf');
  const many = await Promise.all(Array.from({ length: 64 }, () => library.read('pdf')));
  assert.equal(new Set(many).size, 1);
});

test('each failure has its class', async (t) => {
  const { library } = scratch(t);
  await assert.rejects(library.read('pdff'), (error) => {
    assert.ok(error instanceof NotFound);
    assert.deepEqual([error.code, error.exit, error.remedy], ['SKILL_NOT_FOUND', 2, 'did you mean `pdf`?']);
    return true;
  });
  await assert.rejects(library.read('pdf', '../careful/SKILL.md'), Refused);
  await assert.rejects(library.query('pdf:nothing'), NotFound);
});

test('runs are confined, confirmed, cancelled and recorded', async (t) => {
  const { library } = scratch(t);
  const result = await library.runScript('pdf', 'scripts/env.sh', ['a b', '$(id)']);
  assert.deepEqual([result.stdout, result.returncode], ['a b|$(id)|', 5]);
  const [run] = await library.audit({ skill: 'pdf' });
  assert.match(run.who, / for node-test \(call c1\)$/);
  const greet = (approve) => library.run('careful', 'greet', { who: 'Ada' }, { approve });
  await assert.rejects(greet(false), ConfirmationRequired);
  await assert.rejects(greet(async () => false), Declined);
  await assert.rejects(greet(() => Promise.reject(new Error('a bug'))), Declined);
  assert.deepEqual((await greet(({ text }) => text.includes('Greet somebody?'))).result, { text: 'hello' });
  await assert.rejects(library.run('careful', 'greet', {}, { approve: true }), InvalidArgument);
  const stop = new AbortController();
  const waiting = library.runScript('pdf', 'scripts/wait.sh', [], { signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(waiting, { name: 'AbortError' });
});

test('a watched library tells when it changes', async (t) => {
  const { library, write } = scratch(t);
  const changes = await library.watch();
  write('csv/SKILL.md', PDF.replace('name: pdf', 'name: csv'));
  for await (const change of changes) {
    if (change.skills.active === 3) break;
  }
  assert.equal((await library.reload()).skills.active, 3);
});

test('a child that cannot answer is not started for ever', async (t) => {
  const { library } = scratch(t);
  process.env.REP_BINARY = '/bin/false';
  for (let count = 0; count < 3; count += 1) await assert.rejects(library.hello(), EngineError);
  await assert.rejects(library.hello(), /again and again/);
});

test('an open library does not keep the program running, and CommonJS gets the same classes', (t) => {
  scratch(t);
  const main = path.join(repository, 'npm/repertoire-skills/index.js');
  const program = `
    const { Library } = require(${JSON.stringify(main)});
    const library = new Library({ paths: [${JSON.stringify(path.join(repository, 'examples'))}] });
    library.query('slugify:meta.name').then((answer) => console.log(answer.value));`;
  const ran = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  assert.deepEqual([ran.status, ran.stdout], [0, 'slugify\n'], ran.stderr);
  const required = createRequire(import.meta.url)(main);
  assert.equal(required.Library, Library);
});

test('the packages install without scripts, and the program starts', (t) => {
  const { root } = scratch(t);
  const packages = path.join(root, 'packages');
  const build = path.join(repository, 'npm/build_packages.mjs');
  execFileSync(process.execPath, [build, process.env.REP_BINARY, packages], { stdio: 'pipe' });
  const files = fs.readdirSync(packages).map((file) => path.join(packages, file));
  assert.equal(files.length, 2);
  const project = path.join(root, 'project');
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, 'package.json'), '{"private":true}');
  const flags = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional', '--silent'];
  execFileSync('npm', [...flags, ...files], { cwd: project, stdio: 'pipe' });
  const environment = { ...process.env };
  delete environment.REP_BINARY;
  const program = "import('repertoire-skills').then(({ findRep }) => console.log(findRep()))";
  const found = execFileSync(process.execPath, ['-e', program], { cwd: project, encoding: 'utf8', env: environment });
  const name = `repertoire-skills-${process.platform}-${process.arch}`;
  assert.equal(found.trim(), path.join(project, 'node_modules', name, 'rep'));
  const rep = path.join(project, 'node_modules/.bin/rep');
  assert.equal(execFileSync(rep, ['--version'], { encoding: 'utf8', env: environment }), 'rep 0.1.0\n');
});

test('the code of the guide runs', (t) => {
  const { root } = scratch(t);
  fs.cpSync(path.join(repository, 'examples'), path.join(root, 'examples'), { recursive: true });
  fs.mkdirSync(path.join(root, 'node_modules'));
  fs.symlinkSync(path.join(repository, 'npm/repertoire-skills'), path.join(root, 'node_modules/repertoire-skills'));
  const text = fs.readFileSync(path.join(repository, 'docs/node.md'), 'utf8');
  const blocks = [...text.matchAll(/^```js\n([^]*?)^```$/gm)].map((match) => match[1]);
  assert.ok(blocks.length >= 2);
  fs.writeFileSync(path.join(root, 'guide.mjs'), blocks.join('\n'));
  const ran = spawnSync(process.execPath, ['guide.mjs'], { cwd: root, encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /creme-brulee/);
});
