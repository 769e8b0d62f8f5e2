// `npm run test:frr10`: the end-to-end tests that concern FRR, with Debian 13's FRR 10 in place of this machine's; then
// those of networks again with routers of both. The first time it is installed under ~/.cache/cnpd.
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

const ROOT = process.env.CNPD_FRR ?? join(homedir(), '.cache', 'cnpd', 'frr10');
/** What says something about FRR: how it is examined and configured, what it floods, and how it comes and goes. */
const ALONE = [
  ...['frr', 'frr-ospf', 'frr-configs', 'privileges', 'hostile-isis', 'isis-forged', 'advertised-formats', 'stamp'],
  ...['ospf-shape', 'ospf-load', 'ospf-hostile', 'ospf-preference', 'ospf-scenes'],
  ...['bgp-frr', 'bgp-remote-doctor', 'group-bgp', 'scenes', 'flow-control', 'tenants'],
];
/** Networks in which routers with FRR are neighbors of each other: these also with both versions. */
const NETWORKS = [
  ...['isis-frr', 'isis-trouble', 'levels', 'daemon', 'restart', 'srv6-sids', 'end-con'],
  ...['ospf-frr', 'ospf-carrier', 'ospf-areas', 'ospf-both', 'ospf-trouble', 'group-ospf', 'multicast-group'],
];
/** Each network has routers of both versions with these names, next to each other. */
const MIXED = '[13579]$|^(p|core|mid)$';

const run = (command, args, env = {}) => {
  const { status, signal } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  return signal === null && status === 0;
};
const tests = (names, nodes) => {
  const files = names.map((name) => `test/e2e/${name}.test.ts`);
  console.log(
    `\nFRR 10 ${nodes === '' ? 'everywhere' : `where the name matches ${nodes}, else this machine's`}: ${names.join(' ')}`,
  );
  return run('npx', ['vitest', 'run', '--project', 'e2e', ...files], { CNPD_FRR: ROOT, CNPD_FRR_NODES: nodes });
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => ![...ALONE, ...NETWORKS].includes(name));
if (unknown.length > 0) {
  console.error(`not in the run: ${unknown.join(', ')}; there are ${[...ALONE, ...NETWORKS].join(', ')}`);
  process.exit(2);
}
if (!run('sh', ['test/frr10/build.sh', ROOT])) process.exit(1);
const only = (names) => (chosen.length === 0 ? names : names.filter((name) => chosen.includes(name)));
const passed = [only([...ALONE, ...NETWORKS]), only(NETWORKS)].map(
  (names, i) => names.length === 0 || tests(names, i === 0 ? '' : MIXED),
);
process.exitCode = passed.every(Boolean) ? 0 : 1;
