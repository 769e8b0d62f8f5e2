// `npm run lint`: all checks of the source that do not run it, as many checks at a time as there
// are CPUs. Prints the output of those that fail. Needs no root and no Debian package.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

process.chdir(new URL('../..', import.meta.url).pathname);

const bpf = readdirSync('bpf', { recursive: true })
  .filter((name) => /\.[ch]$/.test(name))
  .map((name) => join('bpf', name));

const CHECKS = [
  ['rules and types', 'oxlint', '--type-check', '--report-unused-disable-directives-severity=error'],
  ['layout', 'oxfmt', '--check', '.'],
  ['imports', 'depcruise', '--config', '.dependency-cruiser.mjs', 'src'],
  ['layout of bpf/', 'clang-format', '--dry-run', '-Werror', ...bpf],
];

/** @returns whether the check passed */
function run([name, command, ...args]) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(join('node_modules/.bin', command), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => (output += error.message));
    child.on('close', (code) => {
      if (code !== 0) console.error(`${output.trimEnd()}\nlint: ${name}: ${command} failed`);
      resolve(code === 0);
    });
  });
}

const waiting = [...CHECKS];
const passed = [];
const worker = async () => {
  for (let check = waiting.shift(); check; check = waiting.shift()) passed.push(await run(check));
};
await Promise.all(Array.from({ length: availableParallelism() }, worker));
if (passed.includes(false)) {
  console.error('lint: `npm run format` mends layout');
  process.exit(1);
}
