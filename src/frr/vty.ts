// Client of the vty unix sockets on which FRR's daemons serve vtysh (FRR lib/vty.c, vtysh_read): a command is text and
// a zero byte; the reply is text, three zero bytes and the status of the command. One socket a daemon, commands one
// after another. Configuration is not done here but through vtysh (configure.ts), which keeps FRR's integrated
// configuration whole.
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';

/** Where Debian's and FRR's own packages put the sockets. */
export const DEFAULT_VTY_DIR = '/var/run/frr';

export type FrrDaemon = 'zebra' | 'isisd' | 'ospfd' | 'ospf6d';

interface VtyReply {
  /** FRR's command status: 0 success, 1 warning, 2 no such command; others in lib/command.h. */
  readonly status: number;
  readonly text: string;
}

type VtyErrorCode = 'unreachable' | 'timeout' | 'closed' | 'too-large' | 'bad-command' | 'framing';

export class VtyError extends Error {
  readonly code: VtyErrorCode;
  constructor(code: VtyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'VtyError';
    this.code = code;
  }
}

export interface VtyOptions {
  /** For connecting and for each reply, milliseconds. */
  readonly timeoutMs: number;
  /** Longest reply, bytes. */
  readonly maxReplyBytes: number;
}

export const VTY_DEFAULTS: VtyOptions = { timeoutMs: 5_000, maxReplyBytes: 64 * 1024 * 1024 };

const TRAILER = Buffer.from([0, 0, 0]);

/** Collects the bytes of one reply, however they are cut. */
export class ReplyReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** The last bytes so far: the trailer may be cut in two. */
  #tail = Buffer.alloc(0);

  get size(): number {
    return this.#size;
  }

  /**
   * The reply once it is complete.
   * @throws VtyError `framing` when bytes follow the status: the daemon answers what was not asked.
   */
  push(chunk: Buffer): VtyReply | undefined {
    const before = this.#size - this.#tail.length;
    const window = this.#tail.length > 0 ? Buffer.concat([this.#tail, chunk]) : chunk;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const at = window.indexOf(TRAILER);
    if (at < 0 || window.length < at + TRAILER.length + 1) {
      // Text holds no zero byte, so a trailer whose status is still missing is found again from here.
      this.#tail = Buffer.from(at < 0 ? window.subarray(-(TRAILER.length - 1)) : window.subarray(at));
      return undefined;
    }
    if (window.length > at + TRAILER.length + 1) throw new VtyError('framing', 'bytes follow the end of a reply');
    const all = Buffer.concat(this.#chunks);
    return { status: all[all.length - 1]!, text: all.subarray(0, before + at).toString() };
  }
}

interface Waiting {
  readonly reader: ReplyReader;
  resolve(reply: VtyReply): void;
  reject(error: VtyError): void;
}

/** A connection to one daemon. After any error it is closed: open another. */
export class Vty {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #options: VtyOptions;
  #waiting: Waiting | undefined;
  #broken: VtyError | undefined;
  #line: Promise<unknown> = Promise.resolve();

  private constructor(socket: Socket, where: string, options: VtyOptions) {
    this.#socket = socket;
    this.#where = where;
    this.#options = options;
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('error', (cause) => this.#break(new VtyError('closed', `${where}: ${cause.message}`, { cause })));
    socket.on('close', () =>
      this.#break(new VtyError('closed', `${where}: the daemon closed the connection (is it restarting?)`)),
    );
  }

  /**
   * Connects and enters the enable node.
   * @throws VtyError `unreachable` when the daemon does not run or may not be asked.
   */
  static async open(path: string, options: VtyOptions = VTY_DEFAULTS): Promise<Vty> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => socket.destroy(new Error(`no connection within ${options.timeoutMs} ms`)),
        options.timeoutMs,
      );
      socket.once('connect', () => {
        clearTimeout(timer);
        socket.removeAllListeners('error');
        resolve();
      });
      socket.once('error', (cause: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        reject(new VtyError('unreachable', `${path}: ${cause.code ?? cause.message}`, { cause }));
      });
    });
    const vty = new Vty(socket, path, options);
    await vty.command('enable');
    return vty;
  }

  /** Sends a command and waits for its whole reply; a status other than 0 is no error here. @throws VtyError */
  command(text: string): Promise<VtyReply> {
    if (/[\0\r\n]/.test(text))
      return Promise.reject(new VtyError('bad-command', 'a command is one line without zero bytes'));
    const result = this.#line.then(() => this.#exchange(text));
    this.#line = result.catch(() => undefined);
    return result;
  }

  #exchange(text: string): Promise<VtyReply> {
    return new Promise((resolve, reject) => {
      if (this.#broken) return reject(this.#broken);
      const { timeoutMs } = this.#options;
      const timer = setTimeout(
        () => this.#break(new VtyError('timeout', `${this.#where}: no reply to "${text}" within ${timeoutMs} ms`)),
        timeoutMs,
      );
      this.#waiting = {
        reader: new ReplyReader(),
        resolve: (reply) => {
          clearTimeout(timer);
          resolve(reply);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#socket.write(`${text}\0`);
    });
  }

  #received(chunk: Buffer): void {
    const waiting = this.#waiting;
    if (!waiting) return this.#break(new VtyError('framing', `${this.#where}: unrequested bytes arrived`));
    try {
      const reply = waiting.reader.push(chunk);
      if (reply) {
        this.#waiting = undefined;
        waiting.resolve(reply);
      } else if (waiting.reader.size > this.#options.maxReplyBytes) {
        this.#break(
          new VtyError('too-large', `${this.#where}: the reply is larger than ${this.#options.maxReplyBytes} bytes`),
        );
      }
    } catch (error) {
      this.#break(error as VtyError);
    }
  }

  #break(error: VtyError): void {
    this.#broken ??= error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#socket.destroy();
    waiting?.reject(error);
  }

  close(): void {
    this.#break(new VtyError('closed', `${this.#where}: closed`));
  }
}

export const vtyPath = (dir: string, daemon: FrrDaemon): string => join(dir, `${daemon}.vty`);

/** Asks one daemon one or more things on a connection of their own. @throws VtyError */
export async function askDaemon(
  dir: string,
  daemon: FrrDaemon,
  commands: readonly string[],
  options: VtyOptions = VTY_DEFAULTS,
): Promise<VtyReply[]> {
  const vty = await Vty.open(vtyPath(dir, daemon), options);
  try {
    const replies: VtyReply[] = [];
    for (const command of commands) replies.push(await vty.command(command));
    return replies;
  } finally {
    vty.close();
  }
}
