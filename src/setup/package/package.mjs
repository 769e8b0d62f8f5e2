// `npm run package`: the npm tarball and the Debian packages, in out/. The package cnpd is the tarball with koffi, its
// only dependency, laid out for Debian. cnpd-nodejs is Node.js, for distributions whose own is too old. It needs what
// src/setup/setup.sh installs, dpkg-dev, debhelper and lintian.
//
//   node src/setup/package/package.mjs [--tree DIR] [--out DIR] [--version VERSION] [--only cnpd] [ARCHITECTURE…]
//
// `--tree`: another checkout, already built. `--version`: of the package cnpd. `--only cnpd`: without cnpd-nodejs.
// Architectures are amd64 and arm64; without one, it is this machine's.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDeb } from './deb.mjs';
import { fetchPackage } from './fetch.mjs';
import { run } from './run.mjs';

const here = import.meta.dirname;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tree: { type: 'string' },
    out: { type: 'string' },
    version: { type: 'string' },
    only: { type: 'string' },
  },
});
const root = resolve(here, '../../..');
const tree = resolve(values.tree ?? root);
const out = resolve(values.out ?? join(root, 'out'));
/** What is fetched is kept, and so is cnpd-nodejs, wherever the packages go. */
const CACHE = join(root, 'out/fetched');
/** As npm calls what Debian calls so. */
const CPUS = { amd64: 'x64', arm64: 'arm64' };

const newest = (files) => Math.max(...files.map((file) => statSync(file).mtimeMs));
const isStale = (target, sources) => !existsSync(target) || statSync(target).mtimeMs < newest(sources);
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const manifest = readJson(join(tree, 'package.json'));
const date = () => run('git', ['log', '-1', '--format=%aD'], tree);

/** Behind a release the version is that release and the number of commits; Debian sorts it before the next release. */
function version() {
  if (values.version) return values.version;
  const changelog = readFileSync(join(tree, 'CHANGELOG.md'), 'utf8');
  if (!/^## (.*)$/m.exec(changelog)[1].startsWith('Unreleased')) return manifest.version;
  return `${manifest.version}+${run('git', ['rev-list', '--count', 'HEAD'], tree)}`;
}

/** @returns the path of the tarball */
function pack() {
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], tree),
  );
  return join(out, filename);
}

/** Of koffi only what runs: no C++ sources, no build for another libc. */
function copyKoffi(source, target) {
  const runs = (path) =>
    statSync(path).isDirectory()
      ? !/^(doc|vendor|lib|musl_.*)$/.test(relative(source, path))
      : /\.(c?js|json|node)$/.test(path) && !/(cnoke|trampolines)\.cjs$/.test(path);
  cpSync(source, target, { recursive: true, filter: runs });
}

/** @param scratch a folder for what is fetched */
function addKoffi(target, architecture, scratch) {
  const packages = join(tree, 'node_modules');
  copyKoffi(join(packages, 'koffi'), join(target, 'koffi'));
  const name = `@koromix/koffi-linux-${CPUS[architecture]}`;
  if (!existsSync(join(packages, name))) {
    const { version, integrity } = readJson(join(tree, 'package-lock.json')).packages[`node_modules/${name}`];
    fetchPackage({ name, version, integrity }, scratch, CACHE);
  }
  copyKoffi(existsSync(join(packages, name)) ? join(packages, name) : scratch, join(target, name));
}

/** @returns the path of the package */
function cnpd(tarball, architecture) {
  const folder = join(here, 'debian');
  const change = 'Changes are listed in CHANGELOG.md.';
  const what = { name: 'cnpd', folder, architecture, version: version(), change, date: date(), out };
  return buildDeb(what, (source) => {
    mkdirSync(join(source, 'tree'));
    run('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(source, 'tree')]);
    addKoffi(join(source, 'tree/node_modules'), architecture, join(source, 'koffi'));
    cpSync(join(here, 'cnpd.service'), join(source, 'debian/cnpd.service'));
  });
}

/** It takes minutes, so it is made anew only when what it is made of has changed. @returns the path of the package */
function nodejs(architecture) {
  const folder = join(here, 'debian-nodejs');
  const pinned = join(here, 'nodejs.json');
  const { version: released, integrity } = readJson(pinned);
  const file = `cnpd-nodejs_${released}_${architecture}.deb`;
  const sources = [pinned, ...readdirSync(folder).map((name) => join(folder, name))];
  if (isStale(join(CACHE, file), sources)) makeNodejs(architecture, released, integrity, folder);
  cpSync(join(CACHE, file), join(out, file));
  return join(out, file);
}

function makeNodejs(architecture, version, integrity, folder) {
  const name = `node-linux-${CPUS[architecture]}`;
  const change = `Node.js ${version}, as released.`;
  const what = { name: 'cnpd-nodejs', folder, architecture, version, change, date: date(), out: CACHE };
  buildDeb(what, (source) => {
    const node = join(source, 'node');
    fetchPackage({ name, version, integrity: integrity[name] }, node, CACHE);
    const header = readFileSync(join(source, 'debian/copyright'), 'utf8');
    writeFileSync(join(source, 'debian/copyright'), header + readFileSync(join(node, 'LICENSE'), 'utf8'));
  });
}

try {
  mkdirSync(out, { recursive: true });
  if (!existsSync(join(tree, 'dist/cnpd.js'))) throw new Error(`${tree} is not built: node src/setup/build.mjs`);
  const architectures = positionals.length > 0 ? positionals : [run('dpkg', ['--print-architecture'])];
  for (const name of architectures) if (!(name in CPUS)) throw new Error(`${name} is not amd64 or arm64`);
  const tarball = pack();
  console.log(`package: ${tarball}`);
  for (const architecture of architectures) {
    console.log(`package: ${cnpd(tarball, architecture)}`);
    if (values.only !== 'cnpd') console.log(`package: ${nodejs(architecture)}`);
  }
} catch (error) {
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
}
