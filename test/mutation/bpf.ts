// Mutation testing of the eBPF programs: every fault of bpf-mutants.ts is built into a copy of the repository, and the
// tests that are to notice it are run there. Needs root, as the tests do, and about ten seconds a mutant. `npm run
// mutate -- bpf` calls it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BPF_MUTANTS, type BpfMutant } from './bpf-mutants.ts';

interface BpfVerdict {
  readonly mutant: BpfMutant;
  /** Killed: all tests that had to fail did. Unbuilt: it does not compile, or a test that is named does not exist. */
  readonly verdict: 'killed' | 'survived' | 'unbuilt';
  /** Tests that passed although they had to fail, or why it is unbuilt. */
  readonly detail: readonly string[];
}

/** What the copy needs; node_modules is linked. */
const COPIED = ['bpf', 'src', 'test', 'proto', 'dist', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly status: string;
}

const run = (cwd: string, command: string, args: readonly string[]) =>
  spawnSync(command, [...args], { cwd, encoding: 'utf8', maxBuffer: 1 << 28 });

function copyOf(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 't-mutation-'));
  for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The results of the tests that a mutant names; undefined: vitest did not report. */
function resultsOf(copy: string, mutant: BpfMutant): readonly TestResult[] | undefined {
  const report = join(copy, 'mutation.json');
  rmSync(report, { force: true });
  const pattern = mutant.fails.map(([, name]) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const files = [...new Set(mutant.fails.map(([file]) => file))];
  run(copy, process.execPath, [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    'bpf',
    '--reporter',
    'json',
    '--outputFile',
    report,
    '-t',
    pattern,
    ...files,
  ]);
  if (!existsSync(report)) return undefined;
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: readonly { name: string; assertionResults: readonly { fullName: string; status: string }[] }[];
  };
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ file: name, name: fullName, status })),
  );
}

function verdictOf(copy: string, mutant: BpfMutant): BpfVerdict {
  const unbuilt = (detail: string): BpfVerdict => ({ mutant, verdict: 'unbuilt', detail: [detail] });
  const path = join(copy, mutant.file);
  const source = readFileSync(path, 'utf8');
  if (source.split(mutant.search).length !== 2)
    return unbuilt(`\`${mutant.search}\` is not exactly once in ${mutant.file}`);
  writeFileSync(
    path,
    source.replace(mutant.search, () => mutant.replace),
  );
  try {
    const built = run(copy, process.execPath, ['src/setup/build.mjs']);
    if (built.status !== 0) return unbuilt(built.stderr.split('\n').slice(0, 3).join(' '));
    const results = resultsOf(copy, mutant);
    if (!results) return unbuilt('vitest gave no report');
    const named = mutant.fails.map(([file, name]) => ({
      name,
      results: results.filter(
        (r) => r.file.endsWith(file) && r.name.includes(name) && r.status !== 'skipped' && r.status !== 'pending',
      ),
    }));
    const missing = named.filter(({ results: found }) => found.length === 0);
    // A program that the verifier refuses fails no test: none is run.
    if (missing.length > 0)
      return unbuilt(`no test ran whose name has ${missing.map(({ name }) => `"${name}"`).join(', ')}`);
    const passed = named
      .filter(({ results: found }) => found.every(({ status }) => status === 'passed'))
      .map(({ name }) => name);
    return { mutant, verdict: passed.length === 0 ? 'killed' : 'survived', detail: passed };
  } finally {
    writeFileSync(path, source);
  }
}

/** @param paths of bpf/, whose mutants are run; empty: all */
function mutateBpf(root: string, paths: readonly string[], say: (line: string) => void): readonly BpfVerdict[] {
  const chosen = BPF_MUTANTS.filter(({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)));
  const copy = copyOf(root);
  const leave = (): void => rmSync(copy, { recursive: true, force: true });
  process.once('exit', leave);
  try {
    return chosen.map((mutant) => {
      const verdict = verdictOf(copy, mutant);
      say(
        `${verdict.verdict.padEnd(8)} ${mutant.file}: ` +
          `${mutant.fault}${verdict.detail.length === 0 ? '' : ` (${verdict.detail.join('; ')})`}`,
      );
      return verdict;
    });
  } finally {
    leave();
    process.off('exit', leave);
  }
}

/** Exit status 1: a mutant survived, or the list is out of date. */
function main(paths: readonly string[]): number {
  const verdicts = mutateBpf(process.cwd(), paths, (line) => console.log(line));
  const killed = verdicts.filter(({ verdict }) => verdict === 'killed').length;
  console.log(`\nbpf: ${killed} of ${verdicts.length} mutants killed`);
  return killed === verdicts.length ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
