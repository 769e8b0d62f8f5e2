// cnpd-lab: runs a containerlab topology in network namespaces of this machine.
import { Command } from 'commander';
import { existsSync } from 'node:fs';
import type { Log } from '../model/log.ts';
import { LabError } from './error.ts';
import { labDown, labUp, openLab, readTopology } from './lab.ts';
import { enterArguments, nodeEnvironment } from './enter.ts';
import { labStatus, statusTable } from './status.ts';
import type { Topology } from './topology.ts';
import { LABS_DIRECTORY, knownLabs, logPath, readState } from './state.ts';
import { view } from '../view/view.ts';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const EXIT = { failed: 1, usage: 2, notUp: 3 } as const;

const say = (text: string): void => void process.stderr.write(`lab: ${text}\n`);
const verboseLog: Log = {
  debug: (fields, message) => say(`${message} ${JSON.stringify(fields)}`),
  info: (fields, message) => say(`${message} ${JSON.stringify(fields)}`),
  warn: (fields, message) => say(`${message} ${JSON.stringify(fields)}`),
  error: (fields, message) => say(`${message} ${JSON.stringify(fields)}`),
};

/** A topology file, or the name of a lab (its file may be gone). */
const labName = (fileOrName: string): string =>
  !existsSync(fileOrName) && !/[/]|\.ya?ml$/.test(fileOrName) ? fileOrName : readTopology(fileOrName).name;

async function up(file: string, opts: { verbose?: boolean }): Promise<void> {
  const topology = readTopology(file);
  for (const p of topology.withoutEffect) say(`${file}:${p.line}: ${p.path} ${p.message}`);
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  const lab = await labUp(file, {
    signal: controller.signal,
    onStep: say,
    ...(opts.verbose === true && { log: verboseLog }),
  });
  say(`${lab.name} is up: ${lab.nodes.join(' ')} (logs of \`cmd\`: ${logPath(lab.name, 'NODE')})`);
}

async function down(file: string): Promise<void> {
  const name = labName(file);
  await labDown(name);
  say(`${name} is down`);
}

async function exec(file: string, node: string, argv: string[]): Promise<void> {
  const name = labName(file);
  openLab(name);
  const state = readState(name)!;
  const found = state.nodes.find((n) => n.name === node);
  if (!found)
    throw new LabError(
      'no-such-node',
      `lab ${name} has no node ${JSON.stringify(node)}; it has ${state.nodes.map((n) => n.name).join(', ')}`,
    );
  const [nsenter, ...rest] = [...enterArguments(found), ...(argv[0] === '--' ? argv.slice(1) : argv)];
  const child = spawn(nsenter!, rest, { stdio: 'inherit', env: { ...process.env, ...nodeEnvironment(name, found) } });
  // The terminal sends these to the child too; it decides.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => {});
  process.exitCode = await new Promise<number>((done, failed) => {
    child.on('error', failed);
    child.on('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

async function status(file: string | undefined, opts: { output: string }): Promise<void> {
  const names = file === undefined ? knownLabs() : [labName(file)];
  const labs = await Promise.all(names.map(labStatus));
  if (opts.output === 'json') process.stdout.write(`${JSON.stringify(labs, null, 2)}\n`);
  else
    process.stdout.write(
      labs.length === 0 ? `no lab is up (nothing in ${LABS_DIRECTORY})\n` : labs.map(statusTable).join('\n'),
    );
  if (labs.some((lab) => lab.status !== 'up')) process.exitCode = EXIT.notUp;
}

const MAX_PORT = 65_535;

/** A topology file, or the name of a lab, of which the state knows the file. */
function topologyOf(fileOrName: string): Topology {
  const name = labName(fileOrName);
  const state = readState(name);
  if (!state && !existsSync(fileOrName)) throw new LabError('not-up', `no lab named ${name} is up`);
  return readTopology(existsSync(fileOrName) ? fileOrName : state!.file, name);
}

async function show(file: string, opts: { port: string }): Promise<void> {
  const port = Number(opts.port);
  if (!/^\d{1,5}$/.test(opts.port) || port > MAX_PORT)
    throw new LabError('command-failed', `--port: found ${JSON.stringify(opts.port)}; allowed: 0 to ${MAX_PORT}`);
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  const onReady = (url: string): void => {
    process.stdout.write(`${url}\n`);
    say('open this address in a browser of this machine; Ctrl-C ends the page');
  };
  await view(topologyOf(file), { port, signal: controller.signal, onReady });
}

const program = new Command('cnpd-lab')
  .description(
    'Runs a containerlab topology file in network and mount namespaces of this machine, ' +
      'with this machine’s own programs. Needs root.',
  )
  .showHelpAfterError()
  .enablePositionalOptions()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.usage));
program
  .command('up')
  .argument('<file>', 'topology, *.clab.yml')
  .option('-v, --verbose', 'show what every command printed')
  .description('build the lab and start what the file says')
  .action(up);
program
  .command('down')
  .argument('<file>', 'topology, or the name of a lab')
  .description('end and remove everything; harmless when nothing is up, and after a crash')
  .action(down);
program
  .command('exec')
  .argument('<file>', 'topology, or the name of a lab')
  .argument('<node>')
  .argument('<command...>', 'after --')
  .description('run a program in a node; the exit status is the program’s')
  .passThroughOptions()
  .action(exec);
program
  .command('status')
  .argument('[file]', 'topology, or the name of a lab; default all labs')
  .option('-o, --output <form>', 'table or json', 'table')
  .description(`nodes, processes and links; exit status ${EXIT.notUp} when the lab is not entirely up`)
  .action(status);
program
  .command('view')
  .argument('<file>', 'topology, or the name of a lab')
  .option('-p, --port <port>', 'on 127.0.0.1; 0: any that is free', '0')
  .description('serve a page that shows the lab live: queues, notifications, proxies, SIDs, trees')
  .action(show);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof LabError) say(error.message);
  else if ((error as Error).name === 'AbortError') say('interrupted: everything made so far was taken down again');
  else throw error;
  process.exitCode = error instanceof LabError && error.code === 'not-up' ? EXIT.notUp : EXIT.failed;
}
