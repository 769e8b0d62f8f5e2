// `npm run test:frr10`: the end-to-end tests that concern FRR, with Debian 13's FRR 10 in place of this machine's; then
// those of networks again with routers of both. The first time it is installed under ~/.cache/cnpd.
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

const ROOT = process.env.CNPD_FRR ?? join(homedir(), '.cache', 'cnpd', 'frr10');
/**
 * With FRR 10 everywhere. Not frr-ospf and srv6-sids: their staticd reads a file of its own, and that of FRR 10 has only
 * mgmtd's.
 */
const ALONE = ['frr', 'frr-configs', 'levels', 'ospf-areas', 'bgp-frr'];
const NETWORKS = ['isis-frr', 'ospf-frr'];
/** Routers whose name ends in an odd number: each has a neighbor of the other kind. */
const MIXED = '[13579]$';

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

if (!run('sh', ['test/frr10/build.sh', ROOT])) process.exit(1);
const chosen = process.argv.slice(2);
const only = (names) => (chosen.length === 0 ? names : names.filter((name) => chosen.includes(name)));
const passed = [only([...ALONE, ...NETWORKS]), only(NETWORKS)].map(
  (names, i) => names.length === 0 || tests(names, i === 0 ? '' : MIXED),
);
process.exitCode = passed.every(Boolean) ? 0 : 1;
