// The command `cnpd`: run the daemon, or one of the small errands around it. Exit codes: 0 done, 1 the answer is no (a
// file with errors, a daemon that could not start), 2 wrong usage.
import { Command, CommanderError } from 'commander';
import { notifierNotes } from '../diagnosis/notifiers.ts';
import { promiseProblems } from '../diagnosis/promises.ts';
import { intentJsonSchema } from '../intent/json-schema.ts';
import { cannotStart } from '../kernel/capabilities.ts';
import { isKernelError } from '../kernel/errors.ts';
import { keepInspectorShut } from '../kernel/no-inspector.ts';
import type { Log } from '../model/log.ts';
import { CONFIG_FILE, RUN_DIR } from '../model/paths.ts';
import { configureFrr } from './configure-frr.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { keepHeapSmall } from './heap.ts';
import { readIntentFile } from './intent-file.ts';
import { createLogging } from './logging.ts';
import { dropPrivileges } from './privileges.ts';
import { uninstall } from './uninstall.ts';
import { VERSION } from './version.ts';

const UMASK = 0o022;

interface RunOptions {
  readonly config: string;
  readonly runDir: string;
  readonly configureFrr?: boolean;
  readonly vtyDir?: string;
}

/**
 * Starts and waits for the end; SIGHUP reloads, SIGTERM and SIGINT withdraw and stop. A second SIGTERM does not wait
 * for the withdrawal.
 */
async function run(options: RunOptions): Promise<number> {
  keepHeapSmall();
  const read = readIntentFile(options.config);
  if (!read.ok) {
    process.stderr.write(`${read.error.rendered}\n`);
    return 1;
  }
  const logging = createLogging(read.value.logLevel);
  const log = logging.component('daemon');
  const reason = cannotStart();
  if (reason !== undefined) {
    log.error({ error: reason, code: 'EPERM' }, 'cannot start');
    return 1;
  }
  if (options.configureFrr && !(await configureFrr(read.value, options.vtyDir))) return 1;
  const started = { file: options.config, runDir: options.runDir, intent: read.value };
  // Files have the modes that cnpd gives them, whatever the umask was; vtysh, above, had its own.
  process.umask(UMASK);
  // After vtysh, which needs more than cnpd does.
  dropPrivileges(started, log);
  try {
    const starting = startDaemon(started, { logging });
    await Promise.all([starting, untilSignalled(starting, log)]);
    // Left to end by itself, Node gives the signals back first, and a SIGHUP that comes then (a reload that meets a
    // stop) ends a finished process as a failure.
    return process.exit(0);
  } catch (error) {
    log.error({ error: explain(error), code: (error as { code?: unknown }).code }, 'cannot start');
    return 1;
  }
}

/** What a process lacks is found before; with all it needs it can be refused all the same. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isKernelError(error, 'EPERM')
    ? `${message}: this process has the capabilities, but the kernel refuses them here (a user namespace, ` +
        "a security module, a container's seccomp profile): run cnpd as root outside of that"
    : message;
}

/**
 * Takes the signals over before the start is done: by default each of them would end a process that has made half of
 * what it makes.
 */
function untilSignalled(starting: Promise<Daemon>, log: Log): Promise<void> {
  process.on(
    'SIGHUP',
    () =>
      void starting
        .then((daemon) => daemon.reload())
        .catch((error: unknown) => log.error({ error: String(error) }, 'the reload failed')),
  );
  process.on('SIGUSR1', () =>
    log.warn({ signal: 'SIGUSR1' }, 'this signal does nothing here; SIGHUP reloads the file'),
  );
  let asked = false;
  return new Promise((resolve, reject) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) {
          log.warn({ signal }, 'second signal: ending without withdrawing');
          process.exit(1);
        }
        asked = true;
        log.info({ signal }, 'stopping: withdrawing what was advertised; forwarding and notification stay');
        starting.then((daemon) => daemon.stop()).then(resolve, reject);
      });
    }
  });
}

function check(file: string): number {
  const read = readIntentFile(file);
  if (read.ok) {
    process.stdout.write(`${file}: ok\n`);
    for (const { problem, remedy } of [...promiseProblems(read.value), ...notifierNotes(read.value)])
      process.stdout.write(`${file}: note: ${problem}; ${remedy}\n`);
    return 0;
  }
  process.stderr.write(`${read.error.rendered}\n`);
  return 1;
}

async function main(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = new Command('cnpd')
    .description('congestion-notification daemon')
    .version(VERSION)
    .exitOverride()
    .option('-c, --config <file>', 'the configuration file', CONFIG_FILE)
    .option('--run-dir <dir>', 'directory of pinned programs and maps', RUN_DIR)
    .option('--vty-dir <dir>', "directory of FRR's vty sockets, for --configure-frr (default: /var/run/frr)")
    .option('--configure-frr', 'first give FRR the configuration lines that cnpd needs, through vtysh')
    .action(async (options: RunOptions) => {
      status = await run(options);
    });
  program
    .command('check <file>')
    .description('validate a configuration file: every error with file, line and column')
    .action((file: string) => {
      status = check(file);
    });
  program
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .action(() => void process.stdout.write(`${JSON.stringify(intentJsonSchema(), null, 2)}\n`));
  program
    .command('uninstall')
    .description('remove every program, map and file that cnpd left in the kernel and under the run directory')
    .action(async () => {
      status = await uninstall(program.opts<RunOptions>().runDir, (line) => process.stdout.write(`${line}\n`));
    });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

keepInspectorShut();
process.exitCode = await main(process.argv.slice(2));
