// `npm test`, once the machine is set up: all test projects, and beside them, when nothing else wants the processor, what
// `npm run lint` checks. The end-to-end tests mostly wait for FRR's timers, so that this costs no time of its own.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

process.chdir(new URL('../..', import.meta.url).pathname);

/** @returns {Promise<boolean>} whether it succeeded */
const ended = (child) =>
  new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(error.message);
      resolve(false);
    });
    child.on('close', (code) => resolve(code === 0));
  });

let said = '';
const lint = spawn(process.execPath, ['src/setup/lint.mjs'], { stdio: ['ignore', 'pipe', 'pipe'] });
setPriority(lint.pid, constants.priority.PRIORITY_LOW);
for (const stream of [lint.stdout, lint.stderr]) stream.on('data', (chunk) => (said += chunk));
const linted = ended(lint);
const tested = await ended(spawn('node_modules/.bin/vitest', ['run', ...process.argv.slice(2)], { stdio: 'inherit' }));
const clean = await linted;
if (said) console.error(said.trimEnd());
console.log(`lint: ${clean ? 'passed' : 'failed'}`);
process.exit(tested && clean ? 0 : 1);
