// `npm run test:interop [-- SUITE…]`: the suites that are not in `npm test`, one after the other, and what was skipped,
// with the reason. It ends with the plain line of totals, as each suite does. `node` is long and runs only when named.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
const needs = (command, why) => () => (has(command) ? undefined : `${command} is missing: ${why}`);
const amd64 = () => (process.arch === 'x64' ? undefined : `guests are amd64, and this machine is ${process.arch}`);
const holod = () =>
  process.env.CNPD_HOLOD !== undefined || existsSync(join(homedir(), '.cache/cnpd/holo')) || has('cargo')
    ? undefined
    : 'neither $CNPD_HOLOD nor cargo, to build it';

/** In this order. `skip` gives the reason, if there is one. */
const SUITES = {
  gnmic: { skip: needs('go', 'it builds gnmic') },
  telemetry: {},
  package: {},
  kernels: { skip: amd64 },
  softroce: { skip: amd64 },
  view: {},
  frr10: {},
  holo: { skip: holod },
  containerlab: {
    skip: () => (process.env.CONTAINERLAB ? undefined : needs('go', 'it builds containerlab')()),
  },
  node: { skip: () => 'it takes as long as `npm test` for each version; `npm run test:interop -- node` runs it' },
};

const LINE = /^(\d+) passed, (\d+) failed, (\d+) skipped$/gm;

/** Runs a suite, passes on what it prints, and adds up its lines of totals. */
async function run(name) {
  const child = spawn('npm', ['run', '--silent', `test:${name}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (some) => {
    process.stdout.write(some);
    text += some;
  });
  const status = await new Promise((done, failed) => child.on('error', failed).on('close', done));
  const totals = [...text.matchAll(LINE)].map(([, ...counts]) => counts.map(Number));
  const [passed, failed, skipped] = [0, 1, 2].map((i) => totals.reduce((sum, counts) => sum + counts[i], 0));
  // A suite that ends before its tests has failed, too.
  return { passed, failed: failed > 0 || status === 0 ? failed : 1, skipped, status };
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in SUITES));
if (unknown.length > 0) {
  console.error(`no suite ${unknown.join(', ')}; there are ${Object.keys(SUITES).join(', ')}`);
  process.exit(2);
}
const outcomes = [];
for (const [name, { skip }] of Object.entries(SUITES)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const why = named.includes(name) ? undefined : skip?.();
  if (why !== undefined) {
    outcomes.push({ name, why });
    continue;
  }
  console.log(`\n=== ${name}`);
  outcomes.push({ name, ...(await run(name)) });
}

console.log('\n=== all suites');
for (const { name, why, passed, failed, skipped } of outcomes)
  console.log(
    why === undefined ? `${name}: ${passed} passed, ${failed} failed, ${skipped} skipped` : `${name}: not run: ${why}`,
  );
const ran = outcomes.filter(({ why }) => why === undefined);
const sum = (key) => ran.reduce((total, outcome) => total + outcome[key], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exitCode = ran.some(({ status, failed }) => status !== 0 || failed > 0) ? 1 : 0;
