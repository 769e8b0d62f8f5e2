// The command line of cnpd. What its commands do is in main.ts.
import { Command, Option } from 'commander';
import { usageWords } from '../cli/usage-words.ts';
import { CONFIG_FILE, RUN_DIR, STATE_DIR } from '../model/paths.ts';

export interface RunOptions {
  readonly config: string;
  readonly runDir: string;
  readonly stateDir?: string;
  readonly configure?: boolean;
  /** The older name of `configure`. */
  readonly configureFrr?: boolean;
  readonly vtyDir?: string;
  readonly vtysh?: string;
  readonly record?: boolean;
}

export interface ReplayFlags {
  readonly output: 'table' | 'json';
  readonly partial?: boolean;
}

interface Actions {
  run(options: RunOptions): Promise<void>;
  check(files: readonly string[], output: 'table' | 'json'): Promise<void>;
  schema(): void;
  replay(file: string, view: readonly string[], flags: ReplayFlags): Promise<void>;
  uninstall(options: RunOptions): Promise<void>;
}

export function cnpdProgram(version: string, actions: Actions): Command {
  const program = new Command('cnpd')
    .description('congestion-notification daemon')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (message, write) => write(usageWords('cnpd', message)) })
    .option('-c, --config <file>', 'the configuration file', CONFIG_FILE)
    .option('--run-dir <dir>', 'directory of pinned programs and maps', RUN_DIR)
    .option(
      '--state-dir <dir>',
      `directory of what survives a reboot (default: ${STATE_DIR}, and none with another --run-dir)`,
    )
    .option('--vty-dir <dir>', "directory of FRR's vty sockets, for --configure (default: /var/run/frr)")
    .option('--vtysh <path>', "FRR's vtysh, for --configure (default: the one on the search path)")
    .option(
      '--configure',
      'give the routing suite the configuration that cnpd needs: FRR through vtysh, Holo over gRPC',
    )
    .option('--configure-frr', 'the older name of --configure')
    .option('--record', 'record the events of the protocol and hold machines from the start, for `cnpd replay`')
    .action((options: RunOptions, { args }: Command) => {
      if (args.length > 0) program.error(`error: unknown command '${args[0]}'`, { exitCode: 2 });
      return actions.run(options);
    });
  program
    .command('check')
    .argument('<files...>', 'configuration files; -: standard input')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'))
    .description('validate configuration files: every error with file, line and column, and notes on what is of no use')
    .action((files: string[], { output }: { output: 'table' | 'json' }) => actions.check(files, output));
  program
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .action(() => actions.schema());
  program
    .command('replay <file> [view...]')
    .description(
      'run the machines of a recording again, and print what `cnpctl show VIEW` printed at its end; needs no rights',
    )
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'))
    .option('--partial', 'also a recording that is not whole')
    // Those of the view.
    .allowUnknownOption()
    .action((file: string, view: string[], flags: ReplayFlags) => actions.replay(file, view, flags));
  program
    .command('uninstall')
    .description('remove every program, map and file that cnpd left in the kernel and under the run directory')
    .action(() => actions.uninstall(program.opts<RunOptions>()));
  // An operand that is no command would be one of too many arguments. The commands must not inherit this.
  return program.allowExcessArguments();
}
