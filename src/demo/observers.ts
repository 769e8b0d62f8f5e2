// What the demo sees with its own eyes: the depth of p1's queue, asked of the kernel, and the CNPs on h1's wire, captured there and decoded by src/packet. No code
// of the dataplane is involved in either. Times are CLOCK_MONOTONIC in ms, as the endpoints report them.
import { Netns } from '../kernel/netns.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Qdisc } from '../kernel/netlink/traffic-control.ts';
import { openPacketSocket } from '../kernel/packet-socket.ts';
import type { Poller } from '../kernel/poller.ts';
import { monotonicMs } from '../lab/roce/report.ts';
import { rocePacketOf } from '../lab/roce/wire.ts';
import { formatAddress } from '../model/address.ts';
import { OPCODE } from '../packet/roce/opcodes.ts';
import { parseRocePacket } from '../packet/roce/packet.ts';
import type { CnpSeen, Point } from './results.ts';

const ETH_P_IPV6 = 0x86dd;

export interface QueueObserver {
  /** [ms, bytes] since the last start. */
  readonly samples: readonly Point[];
  /** Packets dropped since the start. */
  readonly drops: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  close(): void;
}

/** How long after the queue first holds anything it is sampled as fast as the kernel answers: feedback is measured against that onset. */
const ONSET_MS = 300;

/** Samples the root qdisc of one interface. @param intervalMs pause between two samples once the onset is over */
export async function observeQueue(netnsPath: string, name: string, intervalMs: number, poller: Poller): Promise<QueueObserver> {
  const netns = Netns.open(netnsPath);
  const rtnetlink = Rtnetlink.open({ netns }, { poller });
  const link = await rtnetlink.link(name);
  if (!link) throw new Error(`no interface ${name} to watch`);
  const root = async (): Promise<Qdisc> => {
    const found = (await rtnetlink.qdiscs(link.ifindex)).find((q) => q.kind === 'tbf');
    if (!found) throw new Error(`${name} has no TBF root`);
    return found;
  };
  const close = (): void => {
    rtnetlink.close();
    netns.close();
  };
  return new TbfObserver({ intervalMs }, { root, close });
}

class TbfObserver implements QueueObserver {
  samples: Point[] = [];
  drops = 0;
  readonly #intervalMs: number;
  readonly #modules: { readonly root: () => Promise<Qdisc>; readonly close: () => void };
  #dropsBefore = 0;
  #onset = Infinity;
  #running = false;
  #loop = Promise.resolve();

  constructor(opts: { readonly intervalMs: number }, modules: { readonly root: () => Promise<Qdisc>; readonly close: () => void }) {
    this.#intervalMs = opts.intervalMs;
    this.#modules = modules;
  }

  async start(): Promise<void> {
    this.samples = [];
    this.#dropsBefore = (await this.#modules.root()).stats.drops;
    this.drops = 0;
    this.#onset = Infinity;
    this.#running = true;
    this.#loop = this.#sampleUntilStopped();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
    await this.#sample();
  }

  close(): void {
    this.#running = false;
    this.#modules.close();
  }

  async #sampleUntilStopped(): Promise<void> {
    while (this.#running) {
      await this.#sample();
      const urgent = monotonicMs() < this.#onset + ONSET_MS;
      await new Promise((done) => (urgent ? setImmediate(done) : setTimeout(done, this.#intervalMs)));
    }
  }

  async #sample(): Promise<void> {
    const asked = monotonicMs();
    const { stats } = await this.#modules.root();
    const now = (asked + monotonicMs()) / 2;
    this.samples.push([now, stats.backlogBytes]);
    this.drops = stats.drops - this.#dropsBefore;
    if (stats.backlogBytes > 0) this.#onset = Math.min(this.#onset, now);
  }
}

export interface WireTap {
  readonly cnps: readonly CnpSeen[];
  clear(): void;
  close(): void;
}

/** Captures what arrives at an interface and keeps the CNPs. */
export function tapCnps(netnsPath: string, name: string, poller: Poller, onError: (error: Error) => void): WireTap {
  const netns = Netns.open(netnsPath);
  let cnps: CnpSeen[] = [];
  const socket = openPacketSocket(
    { interface: name, netns, protocol: ETH_P_IPV6, receiveBuffer: 4 << 20 },
    {
      poller,
      onError,
      onFrame: (frame) => {
        const bytes = rocePacketOf(frame);
        const packet = bytes && parseRocePacket(bytes);
        if (!packet?.ok || (packet.value.bth.opcode !== OPCODE.cnp && !packet.value.bth.becn)) return;
        const { bth, icrcValid, source } = packet.value;
        cnps.push({ t: monotonicMs(), opcode: bth.opcode, destQpn: bth.destQpn, icrcValid, source: formatAddress(source) });
      },
    },
  );
  return {
    get cnps() {
      return cnps;
    },
    clear() {
      cnps = [];
    },
    close() {
      socket.close();
      netns.close();
    },
  };
}
