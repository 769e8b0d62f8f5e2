// `npm run package`: the npm tarball and the Debian package, in out/. The Debian package is the tarball with koffi, its
// only dependency, laid out for Debian. It needs what src/setup/setup.sh installs, dpkg-dev, debhelper and lintian.
//
//   node src/setup/package/package.mjs [--tree DIR] [--out DIR] [--version VERSION]
//
// `--tree`: another checkout, already built. `--version`: of the Debian package.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const { values } = parseArgs({
  options: { tree: { type: 'string' }, out: { type: 'string' }, version: { type: 'string' } },
});
const root = resolve(here, '../../..');
const tree = resolve(values.tree ?? root);
const out = resolve(values.out ?? join(root, 'out'));

function run(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error) throw new Error(`${command}: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout.trim();
}

const manifest = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8'));

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
function addKoffi(target) {
  const packages = join(tree, 'node_modules');
  const build = readdirSync(join(packages, '@koromix')).find((name) => name.startsWith('koffi-linux-'));
  if (!build) throw new Error(`koffi has no build for this machine in ${packages}/@koromix`);
  for (const name of ['koffi', `@koromix/${build}`]) {
    const source = join(packages, name);
    const runs = (path) =>
      statSync(path).isDirectory()
        ? !/^(doc|vendor|lib|musl_.*)$/.test(relative(source, path))
        : /\.(c?js|json|node)$/.test(path) && !path.endsWith('cnoke.cjs');
    cpSync(source, join(target, name), { recursive: true, filter: runs });
  }
}

/** In the form of Debian: the release alone; its changes are in CHANGELOG.md. */
const changelogOf = (debianVersion) =>
  `cnpd (${debianVersion}) unstable; urgency=medium\n\n  * Changes are listed in CHANGELOG.md.\n\n` +
  ` -- The cnpd project <cnpd@cnpd.invalid>  ${run('git', ['log', '-1', '--format=%aD'], tree)}\n`;

/** @returns the path of the package */
function debian(tarball, debianVersion) {
  const build = join(out, 'debian-build');
  const source = join(build, 'cnpd');
  rmSync(build, { recursive: true, force: true });
  mkdirSync(join(source, 'tree'), { recursive: true });
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(source, 'tree')]);
  addKoffi(join(source, 'tree/node_modules'));
  cpSync(join(here, 'debian'), join(source, 'debian'), { recursive: true });
  cpSync(join(here, 'cnpd.service'), join(source, 'debian/cnpd.service'));
  writeFileSync(join(source, 'debian/changelog'), changelogOf(debianVersion));
  run('dpkg-buildpackage', ['-b', '-us', '-uc'], source);
  const name = readdirSync(build).find((file) => file.endsWith('.deb'));
  cpSync(join(build, name), join(out, name));
  rmSync(build, { recursive: true });
  return join(out, name);
}

mkdirSync(out, { recursive: true });
if (!existsSync(join(tree, 'dist/cnpd.js'))) throw new Error(`${tree} is not built: node src/setup/build.mjs`);
try {
  const tarball = pack();
  console.log(`package: ${tarball}`);
  console.log(`package: ${debian(tarball, version())}`);
} catch (error) {
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
}
