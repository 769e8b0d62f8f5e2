// The command `cnpd`: runs the daemon or a subcommand. Exit codes: 0 success, 1 failure (a file with errors, a daemon
// that could not start), 2 wrong usage.
import { CommanderError } from 'commander';
import type { Intent } from '../intent/intent.ts';
import { intentJsonSchema } from '../intent/json-schema.ts';
import { cannotStart } from '../kernel/capabilities.ts';
import { isKernelError } from '../kernel/errors.ts';
import { keepInspectorShut } from '../kernel/no-inspector.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';
import { stateDirOf } from '../model/paths.ts';
import type { Daemon } from './daemon.ts';
import { keepHeapSmall, returnFreedMemory } from './memory.ts';
import { readIntentFile, readIntentOutline } from './intent-file.ts';
import { createLogging } from './logging.ts';
import { dropPrivileges, mayDrop } from './privileges.ts';
import { nameProcess } from './process-name.ts';
import { type RunOptions, cnpdProgram } from './program.ts';
import { type ServiceManager, serviceManager } from './service-manager.ts';
import { endWithOutput } from './standard-streams.ts';
import { untilTransfersPause } from './transfers.ts';
import { VERSION } from './version.ts';

const UMASK = 0o022;
/** Options that are not for the process that goes on with fewer capabilities, once they were carried out. */
const CONFIGURE = ['--configure', '--configure-frr'];

interface SuiteToConfigure {
  /** Once the carriers' interfaces exist. */
  readonly afterStart: boolean;
  /** @returns whether it has what cnpd needs; what is wrong has been printed */
  configure(): Promise<boolean>;
}

async function suiteToConfigure(intent: Intent, { vtyDir, vtysh }: RunOptions): Promise<SuiteToConfigure> {
  const { configureSuite, isConfiguredAfterStart } = await import('./configure-suite.ts');
  const location = { ...(vtyDir !== undefined && { vtyDir }), ...(vtysh !== undefined && { vtysh }) };
  return {
    afterStart: isConfiguredAfterStart(intent),
    configure: () => configureSuite(intent, location),
  };
}

/** The error of a start that ends because the suite is not configured. */
async function stopped(daemon: Daemon): Promise<Error> {
  await daemon.stop();
  return new Error('the routing suite could not be configured');
}

/**
 * Gives up capabilities before a long file is read: what follows is another process, which reads it as a whole, and
 * says what is wrong with it.
 * @returns whether that was tried
 */
function dropsAtOnce({ config: file, runDir, stateDir = stateDirOf(runDir) }: RunOptions): boolean {
  const intent = mayDrop() && cannotStart() === undefined ? readIntentOutline(file) : undefined;
  if (intent === undefined) return false;
  dropPrivileges({ file, runDir, stateDir, intent }, createLogging(intent.logLevel).component('daemon'), []);
  return true;
}

/**
 * Starts the daemon and waits for its end. SIGHUP reloads; SIGTERM and SIGINT wait for transfers of groups, withdraw
 * and stop. A second SIGTERM waits for neither.
 */
async function run(options: RunOptions): Promise<number> {
  const configures = options.configure || options.configureFrr;
  const isTried = !configures && dropsAtOnce(options);
  keepHeapSmall();
  const read = readIntentFile(options.config);
  if (!read.ok) {
    process.stderr.write(`${read.error.rendered}\n`);
    return 1;
  }
  const logging = createLogging(read.value.intent.logLevel);
  const log = logging.component('daemon');
  const reason = cannotStart();
  if (reason !== undefined) {
    log.error({ error: reason, code: 'EPERM' }, 'cannot start');
    return 1;
  }
  const suite = configures ? await suiteToConfigure(read.value.intent, options) : undefined;
  if (suite && !suite.afterStart && !(await suite.configure())) return 1;
  const { config: file, runDir } = options;
  const stateDir = options.stateDir ?? stateDirOf(runDir);
  const started = { file, runDir, stateDir, config: read.value, record: options.record ?? false };
  // cnpd's files get fixed modes, whatever the umask was. vtysh, above, ran with the original umask.
  process.umask(UMASK);
  // After vtysh, which needs more capabilities than cnpd.
  if (!isTried)
    dropPrivileges({ file, runDir, stateDir, intent: read.value.intent }, log, suite?.afterStart ? [] : CONFIGURE);
  // Not before: the process that gives up its capabilities would load carriers and gRPC in vain.
  const { startDaemon } = await import('./daemon.ts');
  const manager = serviceManager(process.env, process.pid, { log });
  returnFreedMemory();
  try {
    const starting = startDaemon(started, { logging, manager });
    const ready = starting.then(async (daemon) => {
      if (suite?.afterStart && !(await suite.configure())) throw await stopped(daemon);
      manager.ready();
    });
    await Promise.all([ready, untilSignaled(starting, { manager, log })]);
    // Exit explicitly: a normal exit of Node restores the signal handlers first. A SIGHUP at that moment (a reload
    // during a stop) would then end the process as a failure.
    return process.exit(0);
  } catch (error) {
    log.error({ error: explain(error), code: (error as { code?: unknown }).code }, 'cannot start');
    return 1;
  }
}

/** Missing capabilities are reported earlier. A process with all of them can still be refused by the kernel. */
function explain(error: unknown): string {
  const message = messageOf(error);
  return isKernelError(error, 'EPERM')
    ? `${message}: this process has the capabilities, but the kernel refuses them here (a user namespace, ` +
        "a security module, a container's seccomp profile): run cnpd as root outside of that"
    : message;
}

/** Installs the signal handlers before the start is complete: by default a signal would end a half-started process. */
function untilSignaled(
  starting: Promise<Daemon>,
  { manager, log }: { manager: ServiceManager; log: Log },
): Promise<void> {
  process.on(
    'SIGHUP',
    () =>
      void starting
        .then((daemon) => daemon.reload())
        .catch((error: unknown) => log.error({ error: String(error) }, 'cannot reload')),
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
        manager.stopping();
        starting
          .then(async (daemon) => {
            await untilTransfersPause(daemon, log);
            log.info({ signal }, 'stopping: withdrawing what was advertised; forwarding and notification stay');
            await daemon.stop();
          })
          .then(resolve, reject);
      });
    }
  });
}

const writers = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};

async function main(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = cnpdProgram(VERSION, {
    run: async (options) => void (status = await run(options)),
    check: async (files, output) => {
      const { checkFiles } = await import('./check.ts');
      status = (await checkFiles(files, { output, ...writers })) ? 0 : 1;
    },
    schema: () => void process.stdout.write(`${JSON.stringify(intentJsonSchema(), null, 2)}\n`),
    replay: async (file, view, { output, partial = false }) => {
      const { replayCommand } = await import('../replay/command.ts');
      status = await replayCommand(file, view, { output, partial }, writers);
    },
    uninstall: async ({ runDir, stateDir }) => {
      const { uninstall } = await import('./uninstall.ts');
      status = await uninstall(runDir, (line) => process.stdout.write(`${line}\n`), undefined, stateDir);
    },
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
nameProcess('cnpd');
// The daemon's log takes another way: it outlives whoever reads that.
endWithOutput('cnpd');
/** The exit code; src/setup/start.mjs awaits it. */
export const status: Promise<number> = main(process.argv.slice(2));
