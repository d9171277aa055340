// Builds the npm packages around a built program: `node build_packages.mjs PROGRAM OUT [--platform linux --arch x64] [--sbom FILE]`.
// One package holds the client, and one for each platform holds the program. None of them has a script.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    platform: { type: 'string', default: process.platform },
    arch: { type: 'string', default: process.arch },
    libc: { type: 'string' },
    sbom: { type: 'string' },
  },
});
const [program, out] = positionals;
if (!program || !out) {
  console.error('usage: node build_packages.mjs PROGRAM OUT [--platform P] [--arch A] [--libc glibc|musl] [--sbom FILE]');
  process.exit(2);
}
const licenses = ['LICENSE-MIT', 'LICENSE-APACHE'];
const main = JSON.parse(fs.readFileSync(path.join(here, 'repertoire-skills/package.json'), 'utf8'));

function pack(folder) {
  for (const license of licenses) fs.copyFileSync(path.join(here, '..', license), path.join(folder, license));
  const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', path.resolve(out)], {
    cwd: folder,
    encoding: 'utf8',
  });
  const file = path.join(out, printed.trim());
  console.log(`${file} ${fs.statSync(file).size} bytes`);
}

fs.mkdirSync(out, { recursive: true });
const work = fs.mkdtempSync(path.join(path.resolve(out), 'work-'));
try {
  const client = path.join(work, 'client');
  fs.cpSync(path.join(here, 'repertoire-skills'), client, {
    recursive: true,
    filter: (source) => !source.includes('node_modules'),
  });
  pack(client);
  const name = `repertoire-skills-${values.platform}-${values.arch}${values.libc === 'musl' ? '-musl' : ''}`;
  const file = values.platform === 'win32' ? 'rep.exe' : 'rep';
  const platform = path.join(work, 'platform');
  fs.mkdirSync(platform);
  fs.copyFileSync(program, path.join(platform, file));
  fs.chmodSync(path.join(platform, file), 0o755);
  const sbom = values.sbom ? ['rep.cdx.json'] : [];
  if (values.sbom) fs.copyFileSync(values.sbom, path.join(platform, 'rep.cdx.json'));
  const description = {
    name,
    version: main.version,
    description: `The program of repertoire-skills for ${values.platform} ${values.arch}.`,
    license: main.license,
    os: [values.platform],
    cpu: [values.arch],
    ...(values.libc ? { libc: [values.libc] } : {}),
    files: [file, ...sbom, ...licenses],
  };
  fs.writeFileSync(path.join(platform, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
  pack(platform);
} finally {
  fs.rmSync(work, { recursive: true });
}
