// A link with delay: `delay-line NETNS:INTERFACE NETNS:INTERFACE DELAY_MS MTU LIMIT`. Creates a TAP in each namespace and carries frames between them, in
// order, DELAY_MS later in each direction. Prints `ready` once both exist. Ends, and with it both interfaces, on SIGTERM or when an interface is
// deleted under it. Says what it dropped when it ends.
import type { KernelError } from '../kernel/errors.ts';
import { Netns } from '../kernel/netns.ts';
import { Poller } from '../kernel/poller.ts';
import { type Tap, openTap } from '../kernel/tap.ts';
import { DelayQueue } from './delay-queue.ts';

/** Ethernet header with a VLAN tag. */
const ETHERNET_OVERHEAD = 18;

const fatal = (message: string): never => {
  process.stderr.write(`delay-line: ${message}\n`);
  process.exit(1);
};

function parseEnd(text: string | undefined): { netns: string; interface: string } {
  const colon = text?.lastIndexOf(':') ?? -1;
  return colon > 0 ? { netns: text!.slice(0, colon), interface: text!.slice(colon + 1) } : fatal('usage: delay-line NETNS:INTERFACE NETNS:INTERFACE DELAY_MS MTU LIMIT');
}

interface Direction {
  readonly queue: DelayQueue;
  /** Frames the far end refused, because it is down. */
  refused: number;
  timer: NodeJS.Timeout | undefined;
}

function main(): void {
  const ends = [parseEnd(process.argv[2]), parseEnd(process.argv[3])] as const;
  const [delayMs, mtu, limit] = process.argv.slice(4, 7).map(Number) as [number, number, number];
  if (![delayMs, mtu, limit].every(Number.isFinite)) fatal('DELAY_MS, MTU and LIMIT must be numbers');
  const poller = Poller.open({ onError: (error) => fatal(String(error)) });
  const maxFrame = mtu + ETHERNET_OVERHEAD;
  const directions = ends.map((): Direction => ({ queue: new DelayQueue({ delayMs, limit, maxFrame }), refused: 0, timer: undefined }));
  const taps: Tap[] = [];

  const flush = (from: 0 | 1): void => {
    const direction = directions[from]!;
    direction.timer = undefined;
    direction.queue.release(performance.now(), (frame) => {
      try {
        taps[1 - from]!.send(frame);
      } catch (error) {
        // EIO while the far end is down: a cable without light.
        if ((error as KernelError).code !== 'EIO' && (error as KernelError).code !== 'ENOBUFS') throw error;
        direction.refused++;
      }
    });
    schedule(from);
  };
  const schedule = (from: 0 | 1): void => {
    const direction = directions[from]!;
    const due = direction.queue.nextDue;
    if (due !== undefined && !direction.timer) direction.timer = setTimeout(() => flush(from), Math.max(0, due - performance.now()));
  };
  for (const from of [0, 1] as const) {
    const { netns, interface: name } = ends[from];
    const namespace = Netns.open(netns);
    taps.push(
      openTap(
        { name, netns: namespace },
        {
          poller,
          onFrame: (frame) => {
            directions[from]!.queue.push(frame, performance.now());
            schedule(from);
          },
          onError: (error) => fatal(`${name}: ${error.message}`),
        },
      ),
    );
    namespace.close();
  }
  const end = (): void => {
    for (const from of [0, 1] as const) {
      const { queue, refused } = directions[from]!;
      process.stderr.write(`delay-line: from ${ends[from].interface}: ${queue.dropped} dropped (queue full), ${queue.oversized} too long, ${refused} refused by the far end\n`);
    }
    process.exit(0);
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.stdout.on('error', () => {});
  process.stdout.write('ready\n');
}

main();
