// `npm run test:node [-- VERSION…] [--project unit …]`: the tests with other versions of Node.js. Each is the npm
// package `node` of that version, kept in out/node/. What follows the versions is handed to Vitest; without it,
// everything that `npm test` runs is run. It is no part of `npm test`: a version takes as long as that.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
process.chdir(root);

/** That of the package cnpd-nodejs. */
const { version: PACKAGED } = JSON.parse(readFileSync('src/setup/package/nodejs.json', 'utf8'));
/** The newest of each line that is maintained, at least two weeks old. */
const VERSIONS = ['22.23.3', PACKAGED, '26.10.0'];

const run = (command, args, env = process.env) => {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env });
  if (error) throw error;
  return status ?? 1;
};

/** @returns the folder of the program `node`; throws Error when it cannot be had */
function install(version) {
  const folder = join(root, 'out/node', version);
  const bin = join(folder, 'node_modules/node/bin');
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(folder, { recursive: true });
    // The package's own script puts the program in place.
    const status = run('npm', ['install', '--prefix', folder, '--no-save', '--foreground-scripts', `node@${version}`]);
    if (status !== 0 || !existsSync(join(bin, 'node'))) throw new Error(`node@${version} cannot be installed`);
  }
  return bin;
}

const args = process.argv.slice(2);
const named = args.findIndex((arg) => !/^\d+\.\d+\.\d+$/.test(arg));
const versions = named === -1 ? args : args.slice(0, named);
const rest = named === -1 ? [] : args.slice(named);
const results = [];
/** What V8 has compiled of the programs is of one version (src/setup/programs.mjs). */
function build(node, env) {
  if (run(node, ['src/setup/build.mjs'], env) !== 0) throw new Error(`${node} cannot build`);
}
try {
  for (const version of versions.length > 0 ? versions : VERSIONS) {
    const bin = install(version);
    const node = join(bin, 'node');
    // Programs that the tests start find the same version.
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    console.log(`\nNode.js ${version}`);
    build(node, env);
    results.push({ version, status: run(node, ['node_modules/vitest/vitest.mjs', 'run', ...rest], env) });
  }
} finally {
  build(process.execPath, process.env);
}
for (const { version, status } of results) console.log(`Node.js ${version}: ${status === 0 ? 'passed' : 'FAILED'}`);
process.exitCode = results.some(({ status }) => status !== 0) ? 1 : 0;
