// What every command is handed: the options of the command line, where to write, and the outside world.
import { messageOf } from '../model/error-text.ts';
import type { ConfigInForce } from '../diagnosis/in-force.ts';
import type { Check } from '../model/problem.ts';
import { type ClientOptions, type NorthboundClient, NorthboundError } from '../northbound/client.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { FileError } from './file-error.ts';
import { printable } from './table.ts';
import { type TargetOptions, tcpOf, tlsFileError } from './target.ts';
import type { BundleSources } from './support-bundle/sources.ts';

export interface GlobalOptions extends TargetOptions {
  readonly output: 'table' | 'json';
  readonly socket: string;
  /** `--socket` was given. */
  readonly socketGiven?: boolean;
  /** Where `socket` is not the one that reads: that one. */
  readonly mainSocket?: string;
  /** Seconds. */
  readonly timeout: number;
  /** Tables with one line a row, however long. */
  readonly wide?: boolean;
}

/**
 * Checks what needs no running cnpd: the file, and the routing suite's preconditions for its intent. With `kernel` (no
 * running cnpd can report it) also the kernel's features and the ports of the intent. What cannot be checked is an item
 * too.
 */
type LocalExamination = (configFile: string, what: Examination) => Promise<Check[]>;
/** FRR's directory of vty sockets, and the program vtysh. */
export interface FrrPlace {
  readonly vtyDir?: string;
  readonly vtysh?: string;
}
export interface Examination {
  readonly kernel: boolean;
  /** Proxy Addresses of the groups of which the running cnpd is the root; absent: none runs. */
  readonly roots?: readonly string[];
  /** What the running cnpd has in force; it is examined in place of a file that says something else. */
  readonly inForce?: ConfigInForce;
  /** Where FRR is, if it is the suite; its defaults when absent. */
  readonly location?: FrrPlace;
}

/**
 * Removes what cnpd left under `runDir` and in the kernel, reports each item on a line, and resolves to whether nothing
 * is left.
 */
type Uninstall = (runDir: string, say: (line: string) => void) => Promise<boolean>;

/** Another router's state: its northbound socket, or text from a file or from standard input (`-`). */
export type Remote = { readonly kind: 'socket' } | { readonly kind: 'text'; readonly text: string };

/** The outside world. */
export interface CliDependencies {
  readonly version: string;
  readonly nowMs: () => number;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard output is a terminal. */
  readonly terminal: boolean;
  /** How wide the terminal is now, in columns of text; undefined without one. */
  readonly columns?: () => number | undefined;
  /** Waits, and resolves to whether anybody reads what is written. */
  readonly pause: (ms: number) => Promise<boolean>;
  /** Whether standard output takes colors. */
  readonly color: boolean;
  readonly connect: (options: ClientOptions) => NorthboundClient;
  readonly examine: LocalExamination;
  /** The socket that a file names, or its default; undefined when the file cannot be read. */
  readonly socketOf: (configFile: string) => Promise<string | undefined>;
  readonly uninstall: Uninstall;
  /** Validates files, prints what it finds, and resolves to whether all are valid. */
  readonly check: (files: readonly string[], output: GlobalOptions['output']) => Promise<boolean>;
  /** Undefined when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  /** @throws Error */
  readonly writeFile: (path: string, text: string) => void;
  /** @throws Error when there is neither a file nor a socket */
  readonly openRemote: (source: string) => Promise<Remote>;
  /** For `support-bundle`. */
  readonly bundleSources: () => Promise<BundleSources>;
}

export interface Context extends CliDependencies {
  readonly options: GlobalOptions;
  /** Of tables, in columns of text. */
  readonly width: number;
  /** JSON without line breaks: one of several documents. */
  readonly oneLine?: boolean;
}

export type Action = (context: Context, ...rest: never[]) => Promise<ExitCode>;
/** Makes a command's action: errors and the exit code are handled alike for all. */
export type Act = (run: Action) => (...args: unknown[]) => Promise<void>;

export const print = (context: Pick<CliDependencies, 'out'>, lines: readonly string[]): void =>
  context.out(lines.map((line) => `${line}\n`).join(''));
export const printJson = (context: Pick<Context, 'out' | 'oneLine'>, value: unknown): void =>
  context.out(`${JSON.stringify(value, null, context.oneLine ? 0 : 2)}\n`);

/** A command line that the table of commands cannot refuse by itself. */
export function usage(context: Pick<CliDependencies, 'err'>, text: string): ExitCode {
  context.err(`cnpctl: ${text}\n`);
  return EXIT.usage;
}

/** Runs with a connection and closes it. @throws NorthboundError, and FileError */
export async function withCnpd<T>(
  { connect, options, readFile }: Context,
  run: (client: NorthboundClient) => Promise<T>,
): Promise<T> {
  const tcp = tcpOf(options, readFile);
  const connected = (make: () => NorthboundClient): NorthboundClient => {
    try {
      return make();
    } catch (error) {
      throw (tcp?.tls && tlsFileError(options, tcp.tls)) ?? error;
    }
  };
  const { socket, mainSocket } = options;
  const client = connected(() =>
    connect({ socket, mainSocket, ...(tcp && { tcp }), timeoutMs: options.timeout * 1000 }),
  );
  try {
    return await run(client);
  } finally {
    client.close();
  }
}

/** @throws FileError */
export async function openNamed({ openRemote }: Pick<CliDependencies, 'openRemote'>, source: string): Promise<Remote> {
  try {
    return await openRemote(source);
  } catch (error) {
    const message = messageOf(error);
    throw new FileError(message.startsWith(`${source}: `) ? message : `${source}: ${message}`);
  }
}

/** The exit code of an error, which is reported on standard error. */
export function explainFailure(context: Pick<CliDependencies, 'err'>, error: unknown): ExitCode {
  if (error instanceof NorthboundError) {
    const { code, status } = error;
    // As whoever answered has written it.
    const message = printable(error.message);
    const sentence = {
      unreachable: `cannot reach cnpd: ${message}`,
      'no-socket': message,
      refused: `cnpd refused: ${message} (${status})`,
    }[code];
    context.err(`cnpctl: ${sentence}\n`);
    return code === 'refused' ? EXIT.error : EXIT.unreachable;
  }
  context.err(`cnpctl: ${printable(messageOf(error))}\n`);
  return error instanceof FileError ? EXIT.usage : EXIT.error;
}
