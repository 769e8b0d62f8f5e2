// A link with delay: `delay-line NETNS:INTERFACE NETNS:INTERFACE DELAY_MS MTU LIMIT`. Creates a TAP in each namespace
// and forwards frames between them, in order, DELAY_MS later in each direction. Prints `ready` once both exist. Ends,
// and with it both interfaces, on SIGTERM or when an interface is deleted under it. Reports dropped frames when it
// ends.
import { type KernelError, isKernelError } from '../kernel/errors.ts';
import { Netns } from '../kernel/netns.ts';
import { Poller } from '../kernel/poller.ts';
import { keepInspectorShut } from '../kernel/no-inspector.ts';
import { type Tap, openTap } from '../kernel/tap.ts';
import { DelayQueue } from './delay-queue.ts';

/** Ethernet header with a VLAN tag. */
const ETHERNET_OVERHEAD = 18;
const REFUSED = new Set(['EIO', 'ENOBUFS']);
const USAGE = 'usage: delay-line NETNS:INTERFACE NETNS:INTERFACE DELAY_MS MTU LIMIT';

const fatal = (message: string): never => {
  process.stderr.write(`delay-line: ${message}\n`);
  process.exit(1);
};

interface End {
  readonly netns: string;
  readonly interface: string;
}

function parseEnd(text: string | undefined): End {
  const colon = text?.lastIndexOf(':') ?? -1;
  return colon > 0 ? { netns: text!.slice(0, colon), interface: text!.slice(colon + 1) } : fatal(USAGE);
}

interface Line {
  readonly ends: readonly [End, End];
  readonly delayMs: number;
  readonly mtu: number;
  readonly limit: number;
}

/** Frames from one end to the other. */
class Direction {
  readonly queue: DelayQueue;
  /** Frames the far end refused, because it is down: a cable without light. */
  refused = 0;
  readonly #far: () => Tap;
  #timer: NodeJS.Timeout | undefined;

  constructor(line: Line, far: () => Tap) {
    this.queue = new DelayQueue({ delayMs: line.delayMs, limit: line.limit, maxFrame: line.mtu + ETHERNET_OVERHEAD });
    this.#far = far;
  }

  take(frame: Uint8Array): void {
    this.queue.push(frame, performance.now());
    this.#schedule();
  }

  #schedule(): void {
    const due = this.queue.nextDue;
    if (due === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, due - performance.now()));
  }

  #flush(): void {
    this.#timer = undefined;
    this.queue.release(performance.now(), (frame) => {
      try {
        this.#far().send(frame);
      } catch (error) {
        if (!isKernelError(error) || !REFUSED.has(error.code)) throw error;
        this.refused++;
      }
    });
    this.#schedule();
  }
}

function openEnd(end: End, direction: Direction, poller: Poller): Tap {
  const netns = Netns.open(end.netns);
  try {
    const onError = (error: KernelError): void => fatal(`${end.interface}: ${error.message}`);
    return openTap({ name: end.interface, netns }, { poller, onFrame: (frame) => direction.take(frame), onError });
  } finally {
    netns.close();
  }
}

function main(): void {
  const [delayMs, mtu, limit] = process.argv.slice(4, 7).map(Number) as [number, number, number];
  const line: Line = { ends: [parseEnd(process.argv[2]), parseEnd(process.argv[3])], delayMs, mtu, limit };
  if (![delayMs, mtu, limit].every(Number.isFinite)) fatal(USAGE);
  const poller = Poller.open({ onError: (error) => fatal(String(error)) });
  const directions = ([0, 1] as const).map((from) => new Direction(line, () => taps[1 - from]!));
  const taps: readonly Tap[] = line.ends.map((end, i) => openEnd(end, directions[i]!, poller));
  const end = (): void => {
    for (const [i, { queue, refused }] of directions.entries()) {
      process.stderr.write(
        `delay-line: from ${line.ends[i]!.interface}: ${queue.dropped} dropped (queue full), ` +
          `${queue.oversized} too long, ${refused} refused by the far end\n`,
      );
    }
    process.exit(0);
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.stdout.on('error', () => {});
  process.stdout.write('ready\n');
}

keepInspectorShut();
main();
