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
  let samples: Point[] = [];
  let dropsBefore = 0;
  let drops = 0;
  let onset = Infinity;
  let running = false;
  let loop = Promise.resolve();
  const sample = async (): Promise<void> => {
    const asked = monotonicMs();
    const { stats } = await root();
    const now = (asked + monotonicMs()) / 2;
    samples.push([now, stats.backlogBytes]);
    if (stats.backlogBytes > 0) onset = Math.min(onset, now);
    drops = stats.drops - dropsBefore;
  };
  const sampleUntilStopped = async (): Promise<void> => {
    while (running) {
      await sample();
      const urgent = monotonicMs() < onset + ONSET_MS;
      await new Promise((done) => (urgent ? setImmediate(done) : setTimeout(done, intervalMs)));
    }
  };
  return {
    get samples() {
      return samples;
    },
    get drops() {
      return drops;
    },
    async start() {
      samples = [];
      dropsBefore = (await root()).stats.drops;
      drops = 0;
      onset = Infinity;
      running = true;
      loop = sampleUntilStopped();
    },
    async stop() {
      running = false;
      await loop;
      await sample();
    },
    close() {
      running = false;
      rtnetlink.close();
      netns.close();
    },
  };
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
