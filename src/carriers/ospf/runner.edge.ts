// The edge of the OSPF core: puts a speaker, a packet socket per area, and a clock together. Events go into the speaker
// one at a time, its effects are carried out, and it gets its `timer` event when one is due. The links are in
// network.ts.
import { formatAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import type { Count, Log } from '../../model/log.ts';
import type { Recorder, Tape } from '../../model/recording.ts';
import type { Work } from '../../model/work.ts';
import { isKernelError } from '../../kernel/errors.ts';
import type { Netns } from '../../kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import type { Poller } from '../../kernel/poller.ts';
import { Reassembly } from '../../packet/ip/reassembly.ts';
import { ALL_SPF_ROUTERS_MAC, ETHERTYPE, type OspfFrame, decodeFrame, encodeFrames } from '../../packet/ospf/frame.ts';
import type { PacketAddresses } from '../../packet/ospf/packet-header.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import { takeNote } from '../effects.ts';
import { MachineTimer } from '../machine-timer.ts';
import { type LinkEnds, isFromLink } from './admission.ts';
import { beginTape } from './recorded.ts';
import { createSpeaker, handle } from './speaker.ts';
import type { Effect, Speaker, SpeakerConfig, SpeakerEvent } from './state.ts';
import { nextWake } from './tasks.ts';

/** Holds a whole burst of updates. */
const RECEIVE_BUFFER = 8 << 20;
/** The most datagrams that are reassembled at a time. */
const REASSEMBLY_LIMIT = 16;
/** A packet that will be refused is not copied. */
const NOTHING = new Uint8Array();

/** An area's link: our end, and the address on it. */
export interface OspfLink extends LinkEnds {
  readonly areaId: number;
  readonly interface: string;
  readonly netns?: Netns | undefined;
}

export type OspfChange = Extract<Effect, { type: 'database' | 'adjacency' }>;

export interface OspfRunnerDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  readonly recorder?: Recorder | undefined;
  /** The database or its source, the neighbor, has changed. */
  onChange(change: OspfChange): void;
}

export class OspfRunner {
  readonly speaker: Speaker;
  private readonly dependencies: OspfRunnerDependencies;
  private readonly links = new Map<number, { readonly socket: PacketSocket; readonly ends: LinkEnds }>();
  private readonly reassembly = new Reassembly(REASSEMBLY_LIMIT);
  private identification = 0;
  private readonly timer: MachineTimer;
  /** While its events are recorded. */
  private readonly tape: Tape | undefined;
  private stopping: Promise<boolean> | undefined;
  private onStopped: (clean: boolean) => void = () => {};

  constructor(config: SpeakerConfig, dependencies: OspfRunnerDependencies) {
    this.dependencies = dependencies;
    this.tape = beginTape(dependencies.recorder, dependencies.clock.now(), config);
    this.speaker = createSpeaker({ ...config, findings: this.tape });
    this.timer = new MachineTimer(dependencies, {
      dueAt: () => nextWake(this.speaker),
      timer: () => this.event({ type: 'timer' }),
    });
  }

  /** Opens the area's socket and starts the protocol on the link. @throws KernelError ENODEV, EPERM */
  linkUp(link: OspfLink): void {
    const { version } = this.speaker.config.version;
    const opts = {
      interface: link.interface,
      netns: link.netns,
      protocol: ETHERTYPE[version],
      multicast: [ALL_SPF_ROUTERS_MAC[version]],
      receiveBuffer: RECEIVE_BUFFER,
    };
    const socket = openPacketSocket(opts, {
      poller: this.dependencies.poller,
      onFrame: (frame) => this.received(link.areaId, frame),
      onError: (error) => this.dependencies.count(`${this.name}.rx.failed.${error.code.toLowerCase()}`),
    });
    const { areaId, address, peer } = link;
    this.links.set(areaId, { socket, ends: { address, peer } });
    this.event({ type: 'link-up', areaId, address, peer });
  }

  linkDown(areaId: number, reason: string): void {
    this.links.get(areaId)?.socket.close();
    this.links.delete(areaId);
    this.event({ type: 'link-down', areaId, reason });
  }

  event(event: SpeakerEvent): void {
    const now = this.dependencies.clock.now();
    this.tape?.event(now, event);
    for (const effect of handle(this.speaker, event, now)) this.carryOut(effect);
    this.timer.arm();
  }

  /**
   * Withdraws everything, waits for the neighbors' acknowledgments, closes. Idempotent.
   * @returns whether all arrived
   */
  stop(): Promise<boolean> {
    this.stopping ??= new Promise<boolean>((resolve) => {
      this.onStopped = resolve;
      this.event({ type: 'stop' });
    }).finally(() => this.close());
    return this.stopping;
  }

  /** Closes without a message to any neighbor, as if the process were killed. Idempotent. */
  close(): void {
    this.timer.close();
    for (const { socket } of this.links.values()) socket.close();
    this.links.clear();
  }

  private get name(): string {
    return this.speaker.config.version.name;
  }

  private received(areaId: number, frame: Uint8Array): void {
    const decoded = decodeFrame(this.speaker.config.version.version, frame);
    if (!decoded.ok) {
      if (decoded.error.code !== 'not-ospf') this.dependencies.count(`${this.name}.frame.${decoded.error.code}`);
      return;
    }
    const { addresses } = decoded.value;
    const payload = this.isFromLink(areaId, addresses) ? this.whole(areaId, decoded.value) : NOTHING;
    if (payload) this.event({ type: 'received', areaId, payload, addresses });
  }

  private isFromLink(areaId: number, addresses: PacketAddresses): boolean {
    const link = this.links.get(areaId);
    return link !== undefined && isFromLink(this.speaker.config.version, link.ends, addresses);
  }

  /** A copy of the payload. For a fragment: that of its datagram, once it is complete. */
  private whole(areaId: number, { addresses, payload, fragment }: OspfFrame): Uint8Array | undefined {
    if (!fragment) return payload.slice();
    const key =
      `${areaId} ${formatAddress(addresses.source)} ${formatAddress(addresses.destination)} ` +
      `${fragment.identification}`;
    return this.reassembly.add(key, { ...fragment, payload });
  }

  private carryOut(effect: Effect): void {
    if (effect.type === 'send') this.send(effect);
    else if (effect.type === 'database' || effect.type === 'adjacency') this.dependencies.onChange(effect);
    else if (effect.type === 'stopped') this.onStopped(effect.clean);
    else takeNote(effect, this.dependencies, { carrier: this.name });
  }

  /** Frames that cannot be sent are counted; OSPF retransmits. */
  private send({ areaId, destination, payload }: Extract<Effect, { type: 'send' }>): void {
    const link = this.links.get(areaId);
    if (!link) return;
    const {
      socket,
      ends: { address: source },
    } = link;
    try {
      const { mtu } = this.speaker.areas.get(areaId)!.config;
      this.identification = (this.identification + 1) & 0xffff;
      const frames = encodeFrames(
        this.speaker.config.version.version,
        socket.mac,
        { source, destination },
        payload,
        mtu,
        this.identification,
      );
      for (const frame of frames) socket.send(frame);
    } catch (error) {
      if (!isKernelError(error)) throw error;
      this.dependencies.count(`${this.name}.tx.failed.${error.code.toLowerCase()}`);
      this.dependencies.log.debug({ area: formatId(areaId), err: error }, 'packet not sent');
    }
  }
}
