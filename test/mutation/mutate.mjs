// `npm run mutate -- PATH…`: changes the source in small ways and tells which changes no unit test notices. A PATH is a
// folder or file of src/ (`packet`, `src/plan/proxy.ts`, `src/plan/proxy.ts:20-40`), or `bpf` or what is in it, for the
// list of changes of the eBPF programs. It takes about half a second a change and is no part of `npm test`. Reports:
// out/mutation/<PATH>.html and .json.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { build } from 'esbuild';

const root = new URL('../..', import.meta.url).pathname;
process.chdir(root);
mkdirSync('out/mutation', { recursive: true });

const nice = (command, args, env = {}) =>
  spawnSync('nice', ['-n', '19', command, ...args], { stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1;

/** A PATH as the operator types it → the folder or file, with its lines. */
function resolve(path) {
  const [name, lines] = path.replace(/\/$/, '').split(':');
  const found = [name, `src/${name}`].find((candidate) => existsSync(candidate));
  return found === undefined ? undefined : { found, lines, folder: statSync(found).isDirectory() };
}

/**
 * Counts by folder or file below `from`, of what unit tests run at all; what only other tests run, those with a kernel
 * or a network, is counted apart.
 */
function summary(report, from) {
  const rows = new Map();
  for (const [file, { mutants }] of Object.entries(JSON.parse(readFileSync(report, 'utf8')).files)) {
    const rest = file.startsWith(`${from}/`) ? file.slice(from.length + 1) : file;
    for (const row of [rest.includes('/') && file !== from ? `${rest.split('/')[0]}/` : rest, 'all']) {
      const counts = rows.get(row) ?? { Killed: 0, Survived: 0, NoCoverage: 0 };
      for (const { status } of mutants) counts[status === 'Timeout' ? 'Killed' : status]++;
      rows.set(row, counts);
    }
  }
  return [...rows].map(([row, { Killed, Survived, NoCoverage }]) => {
    const run = Killed + Survived;
    const share = run === 0 ? '-' : `${((100 * Killed) / run).toFixed(1)} %`;
    return `${share.padStart(8)}  ${String(Killed).padStart(6)} of ${String(run).padEnd(6)} ${row}${NoCoverage > 0 ? ` (and ${NoCoverage} that no unit test runs)` : ''}`;
  });
}

function mutateTypeScript(path) {
  const { found, lines, folder } = resolve(path);
  const patterns = folder
    ? [`${found}/**/*.ts`, `!${found}/**/*.test.ts`, `!${found}/**/*.fixture.ts`, `!${found}/**/gen/**`]
    : [lines === undefined ? found : `${found}:${lines}`];
  const report = `out/mutation/${found.replace(/^src\//, '').replaceAll('/', '-')}`;
  const status = nice(
    'node_modules/.bin/stryker',
    ['run', 'test/mutation/stryker.config.mjs', '--mutate', patterns.join(',')],
    { MUTATION_REPORT: report },
  );
  if (status !== 0) return status;
  console.log(
    `\n${found}: changes that a test noticed\n${summary(`${report}.json`, found).join('\n')}\nreport: ${report}.html`,
  );
  return 0;
}

const isBpf = (path) => /^bpf(\/|$)/.test(path);

/** @param path of whose files the changes are made */
async function mutateBpf(path) {
  await build({
    entryPoints: ['test/mutation/bpf.ts'],
    outfile: 'out/mutation/bpf.mjs',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
  });
  return nice(process.execPath, ['out/mutation/bpf.mjs', path]);
}

const paths = process.argv.slice(2);
const unknown = paths.filter((path) => resolve(path) === undefined);
if (paths.length === 0 || unknown.length > 0) {
  for (const path of unknown) console.error(`mutate: ${path} is no folder or file of bpf/ or src/`);
  console.error(
    'usage: npm run mutate -- PATH…    PATH: bpf, bpf/lib/multicast, or a folder or file of src/ (packet, src/plan/proxy.ts, src/plan/proxy.ts:20-40)',
  );
  process.exit(2);
}
let worst = 0;
for (const path of paths) worst = Math.max(worst, isBpf(path) ? await mutateBpf(path) : mutateTypeScript(path));
process.exit(worst);
