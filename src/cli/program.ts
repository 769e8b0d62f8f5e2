// The command line of cnpctl. Commands are thin: they ask a running cnpd over its northbound socket and print. Exit
// codes: exit.ts.
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { parseAddress } from '../model/address.ts';
import { expandCommands } from './abbreviations.ts';
import { GNMI_SOCKET, RUN_DIR } from '../model/paths.ts';
import {
  type Act,
  type Action,
  type CliDependencies,
  type Context,
  explainFailure,
  type GlobalOptions,
  print,
  printJson,
  usage,
  withCnpd,
} from './context.ts';
import { showBgp, showBgpList } from './bgp.ts';
import { BGP_VIEWS, OSPF_VIEWS } from './carrier-views.ts';
import { addConfig, showConfig } from './config-commands.ts';
import { clearCounters, showCounters } from './counters.ts';
import { type DoctorOptions, doctor } from './doctor.ts';
import { addGroup, addShowGroups } from './group-commands.ts';
import { doctorRemote } from './doctor-remote.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Filters, addFilters, prefixText } from './filters.ts';
import { FLOW_CONTROL_TABLES, HOLD_TABLES, showFlowControl, showHolds } from './flow-control-views.ts';
import { SHELLS, type Shell, completionScript } from './reference/completion.ts';
import { describeCommand } from './reference/describe.ts';
import { log } from './log.ts';
import { addRecord } from './record.ts';
import { release } from './release.ts';
import { type Latest, showList, showLatest, showPorts, showSenders, showStatus } from './show.ts';
import { TABLE_WIDTH } from './table.ts';
import { targetError } from './target.ts';
import { type BundleOptions, supportBundle } from './support-bundle/bundle.ts';
import { usageWords } from './usage-words.ts';
import { VIEWS } from './views.ts';
import { type WatchOptions, watch } from './watch.ts';

const MAX_TIMEOUT_SECONDS = 3600;
const DEFAULT_INTERVAL_SECONDS = 2;
/** Notifications shown. */
const DEFAULT_LAST = 20;

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= MAX_TIMEOUT_SECONDS))
    throw new InvalidArgumentError(`allowed: more than 0 seconds, up to ${MAX_TIMEOUT_SECONDS}.`);
  return value;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('allowed: a whole number from 1.');
  return Number(text);
}

function queuePair(text: string): number {
  const value = /^(0x[0-9a-fA-F]{1,6}|\d{1,8})$/.test(text) ? Number(text) : NaN;
  if (!(value >= 1 && value <= 0xffffff)) throw new InvalidArgumentError('allowed: 1 to 16777215, or 0x1 to 0xffffff.');
  return value;
}

function addressText(text: string): string {
  if (!parseAddress(text)) throw new InvalidArgumentError('allowed: an IPv4 or IPv6 address.');
  return text;
}

/** Runs one command line. @param argv without the program's own name */
export async function runCnpctl(argv: readonly string[], dependencies: CliDependencies): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = buildProgram(dependencies, (result) => {
    code = result;
  });
  const expanded = expandCommands(argv, describeCommand(program));
  if (!expanded.ok) return usage(dependencies, expanded.error);
  try {
    await program.parseAsync(expanded.argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return explainFailure(dependencies, error);
  }
}

/** The one table of commands: help, completion and the manual page are made from it. */
export function buildProgram(dependencies: CliDependencies, finish: (code: ExitCode) => void): Command {
  const program = new Command('cnpctl')
    .description('Shows and controls a running cnpd, the congestion-notification daemon.')
    .version(dependencies.version)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'))
    .option('--socket <path>', "cnpd's northbound socket", GNMI_SOCKET)
    .option('--target <host:port>', 'another router, over TCP, instead of the socket')
    .option('--tls-ca <file>', 'with --target: PEM file of the authority that signs the certificates of routers')
    .option('--tls-cert <file>', 'with --target: PEM file of your certificate')
    .option('--tls-key <file>', 'with --target: PEM file of its private key')
    .option('--plaintext', 'with --target: without TLS')
    .option('--wide', 'tables with one line a row, however long; otherwise 100 columns, or as many as the terminal has')
    .option('--timeout <seconds>', 'how long to wait for an answer', seconds, 10)
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 a problem was found, 2 usage, 3 cnpd does not answer, 4 cnpd refused or an error.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: dependencies.out,
      writeErr: dependencies.err,
      outputError: (message, write) => write(usageWords('cnpctl', message)),
    });
  const context = (): Context => ({
    ...dependencies,
    options: { ...program.opts<GlobalOptions>(), socketGiven: program.getOptionValueSource('socket') === 'cli' },
    // Asked for each time: a terminal that is watched may become wider.
    get width() {
      const wide = program.opts<GlobalOptions>().wide === true;
      return wide ? Infinity : Math.max(TABLE_WIDTH, dependencies.columns?.() ?? 0);
    },
  });
  /** Commander passes arguments, then options, then the command. */
  const act =
    (run: Action) =>
    async (...args: unknown[]): Promise<void> => {
      const [here, command] = [context(), args.at(-1) as Command];
      const error = targetError(here.options, command);
      if (error === undefined) return finish(await run(here, ...(args.slice(0, -1) as never[])));
      finish(usage(here, error));
    };
  addShow(program, act);
  addGroup(program, act);
  addConfig(program, act);
  program
    .command('log')
    .description('levels of the log by component; with COMPONENT=LEVEL sets them until cnpd ends')
    .argument('[changes...]', 'such as isis=debug, all=info; LEVEL file: as cnpd.yaml has it')
    .action(act((context, changes: string[]) => log(context, changes)));
  program
    .command('doctor')
    .description('what is missing for cnpd to work here, and the command that fixes it')
    .option(
      '-c, --config <file>',
      'cnpd.yaml to check the routing suite against; its cnpd is asked unless --socket names another (default: the one of the running cnpd)',
    )
    .option('--vty-dir <dir>', "directory of FRR's vty sockets (default: /var/run/frr)")
    .option('--vtysh <path>', "FRR's vtysh, for the commands shown (default: the one on the search path)")
    .option(
      '--remote <source>',
      'instead: which paths of the BGP carrier arrive at another router; ' +
        'its gNMI socket, or a file with its `cnpctl -o json show bgp` (-: standard input)',
    )
    .action(
      act((context, { remote, ...options }: DoctorOptions & { remote?: string }) =>
        remote === undefined ? doctor(context, options) : doctorRemote(context, remote),
      ),
    );
  addRecord(program, act);
  program
    .command('support-bundle')
    .description(
      "collect state, configuration and FRR's side in one .tar.gz for who looks into a fault; secrets masked",
    )
    .argument('[archive]', 'a new file (default: cnpd-support-HOST-TIME.tar.gz here)')
    .option('-c, --config <file>', 'the configuration file (default: the one of the running cnpd)')
    .action(act((context, file: string | undefined, options: BundleOptions) => supportBundle(context, file, options)));
  program
    .command('release')
    .description('let a held flow go, or all that is held with --all; the next notification may hold it again')
    .argument('[sender]', 'the flow, as `show holds` has it', addressText)
    .argument('[receiver]', 'its receiver', addressText)
    .argument('[qpn]', 'the Queue Pair of the receiver', queuePair)
    .option('--all', 'every held flow, and all traffic that is paused for neighbors')
    .action(act(release));
  program
    .command('uninstall')
    .description('remove what cnpd left in the kernel and in /run; cnpd must be stopped')
    .option('--run-dir <dir>', 'directory of pinned programs and maps', RUN_DIR)
    .action(act(uninstall));
  program
    .command('clear')
    .description('show something from 0 on')
    .command('counters')
    .description('show counters from 0 on, in tables; what cnpd counts and gNMI reports does not change')
    .action(act(clearCounters));
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action(
      act(async ({ out }: Context, shell: Shell) => {
        out(completionScript(shell, describeCommand(program)));
        return EXIT.ok;
      }),
    );
  return program;
}

function addShow(program: Command, actOnce: Act): void {
  const show = program
    .command('show')
    .description('print state')
    .option('-w, --watch', 'print it again and again, until it is interrupted')
    .option('--interval <seconds>', 'with --watch: how long between two looks', seconds, DEFAULT_INTERVAL_SECONDS);
  const act: Act = (run) =>
    actOnce((context, ...rest) => {
      const options = show.opts<WatchOptions>();
      const look = (where: Context): Promise<ExitCode> => run(where, ...rest);
      return options.watch ? watch(context, options, look) : look(context);
    });
  show
    .command('status')
    .description('the daemon itself; exit code 1 unless it runs as declared')
    .action(act(showStatus));
  show
    .command('config')
    .description('the configuration in force, with a comment at each default; secrets are hidden')
    .action(act(showConfig));
  addList(show, 'proxies', VIEWS.proxies, act);
  addFilters(show.command('senders'), VIEWS.senders)
    .description(`${VIEWS.senders.description}; with an address: its proxy and why, exit code 1 when it has none`)
    .argument('[address-or-prefix]', 'a sender; a prefix is the same as --prefix', prefixText)
    .option('--all', 'also prefixes without a proxy, and advertisements not in force')
    .action(act(showSenders));
  addShowCarriers(show, act);
  addFilters(show.command('ports'), VIEWS.ports)
    .description(VIEWS.ports.description)
    .argument('[port]', 'the same as --port')
    .action(act(showPorts));
  addList(show, 'sources', VIEWS.sources, act);
  addFilters(show.command('holds'), ...HOLD_TABLES)
    .description('flows and traffic that this router holds, for hosts and for neighbors')
    .action(act(showHolds));
  addFilters(show.command('flow-control'), ...FLOW_CONTROL_TABLES)
    .description('what neighbors are asked to pause, what is paused for neighbors, and where')
    .action(act(showFlowControl));
  for (const name of ['notifications', 'received'] as const)
    addFilters(show.command(name), VIEWS[name])
      .description(VIEWS[name].description)
      .option('--last <n>', 'how many', count, DEFAULT_LAST)
      .action(act((context, options: Latest) => showLatest(context, VIEWS[name], options)));
  addList(show.command('srv6').description('segment routing over IPv6'), 'sids', VIEWS.sids, act);
  addShowGroups(show, act);
  for (const name of ['flows', 'rtt', 'codepoints'] as const) addList(show, name, VIEWS[name], act);
  show
    .command('counters')
    .description(`${VIEWS.counters.description}, since \`clear counters\``)
    .option('--total', 'since they began')
    .option('--all', 'also those that are zero')
    .action(act(showCounters));
}

function addShowCarriers(show: Command, act: Act): void {
  const isis = show.command('isis').description('the IS-IS carrier');
  for (const name of ['neighbors', 'database'] as const) addList(isis, name, VIEWS[name], act);
  for (const [name, { title, neighbors, database }] of Object.entries(OSPF_VIEWS)) {
    const ospf = show.command(name).description(title);
    addList(ospf, 'neighbors', neighbors, act);
    addList(ospf, 'database', database, act);
  }
  const bgp = show
    .command('bgp')
    .description('the BGP carrier: all of the below; the JSON has what `doctor --remote` needs from another router')
    .action(act(showBgp));
  for (const [name, view] of Object.entries(BGP_VIEWS))
    addFilters(bgp.command(name), view)
      .description(view.description)
      .action(act((context, filters: Filters) => showBgpList(context, view, filters)));
}

/** A subcommand that prints a list as it is. */
function addList(parent: Command, name: string, view: Parameters<typeof showList>[1], act: Act): void {
  addFilters(parent.command(name), view)
    .description(view.description)
    .action(act((context, filters: Filters) => showList(context, view, filters)));
}

async function uninstall(context: Context, { runDir }: { runDir: string }): Promise<ExitCode> {
  if (await withCnpd(context, (client) => client.listening())) {
    context.err(`cnpctl: cnpd runs (${context.options.socket} answers): stop it first, systemctl stop cnpd\n`);
    return EXIT.problem;
  }
  const lines: string[] = [];
  const table = context.options.output === 'table';
  const clean = await context.uninstall(runDir, (line) => (table ? print(context, [line]) : void lines.push(line)));
  if (!table) printJson(context, { ok: clean, lines });
  return clean ? EXIT.ok : EXIT.problem;
}
