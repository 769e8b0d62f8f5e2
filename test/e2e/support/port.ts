// An interface of a node on which the test process itself speaks: whole frames in and out, so that every byte of the
// traffic is the test's own. And RoCEv2 flows on top, whose packets are numbered by their PSN.
import type { Lab } from '../../../src/lab/lab.ts';
import { ActiveConnection, PassiveConnection } from '../../../src/lab/roce/connection.ts';
import {
  DataTemplate,
  buildAcknowledge,
  buildCmPacket,
  rocePacketOf,
  sourcePortOf,
} from '../../../src/lab/roce/wire.ts';
import { isKernelError } from '../../../src/kernel/errors.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import type { Poller } from '../../../src/kernel/poller.ts';
import { type IpAddress, formatAddress, sameAddress } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import type { CmReq } from '../../../src/packet/roce/cm.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { type RocePacket, parseRocePacket } from '../../../src/packet/roce/packet.ts';

const ETHERNET = 14;
const ROOM_LIMIT_MS = 30_000;

const bytesOfMac = (text: string): Uint8Array =>
  Uint8Array.from(
    text
      .trim()
      .split(':')
      .map((part) => parseInt(part, 16)),
  );

export class Port {
  readonly #socket: PacketSocket;
  readonly #netns: Netns;
  readonly #neighbor: Uint8Array;
  /** What was received since `clear`, without the Ethernet header. */
  packets: Uint8Array[] = [];
  onPacket: ((packet: Uint8Array) => void) | undefined;

  private constructor(netns: Netns, name: string, neighbor: Uint8Array, poller: Poller, errors: unknown[]) {
    this.#netns = netns;
    this.#neighbor = neighbor;
    this.#socket = openPacketSocket(
      { interface: name, netns, receiveBuffer: 32 << 20 },
      { poller, onFrame: (frame) => this.#received(frame), onError: (error) => errors.push(error) },
    );
  }

  /**
   * @param at `node:interface`
   * @param neighbor the other end of its link, for the address of what is sent
   */
  static async open(
    lab: Lab,
    at: string,
    neighbor: string,
    modules: { poller: Poller; errors: unknown[] },
  ): Promise<Port> {
    const [node, name] = at.split(':') as [string, string];
    const [other, otherName] = neighbor.split(':') as [string, string];
    const mac = bytesOfMac(await lab.mustExec(other, ['cat', `/sys/class/net/${otherName}/address`]));
    return new Port(Netns.open(lab.netnsPath(node)), name, mac, modules.poller, modules.errors);
  }

  #received(frame: Uint8Array): void {
    const packet = frame.slice(ETHERNET);
    if (this.onPacket) this.onPacket(packet);
    else this.packets.push(packet);
  }

  clear(): void {
    this.packets = [];
  }

  /** Sends an IP packet to the neighbor. */
  send(packet: Uint8Array): void {
    this.sendFrame(this.frame(packet));
  }

  /**
   * What is sent belongs to the socket until the CPU that receives it has come to it: a flood waits there for room, as
   * a wire makes it wait.
   */
  sendFrame(frame: Uint8Array): void {
    const deadline = performance.now() + ROOM_LIMIT_MS;
    for (;;) {
      try {
        return this.#socket.send(frame);
      } catch (error) {
        if (!isKernelError(error, 'ENOBUFS') || performance.now() > deadline) throw error;
      }
    }
  }

  frame(packet: Uint8Array): Uint8Array {
    return concat(
      this.#neighbor,
      this.#socket.mac,
      packet[0]! >> 4 === 6 ? Uint8Array.of(0x86, 0xdd) : Uint8Array.of(8, 0),
      packet,
    );
  }

  close(): void {
    this.#socket.close();
    this.#netns.close();
  }
}

/** The RoCEv2 packets among them. */
export function rocePackets(packets: readonly Uint8Array[]): RocePacket[] {
  return packets.flatMap((packet) => {
    const frame = concat(
      new Uint8Array(12),
      packet[0]! >> 4 === 6 ? Uint8Array.of(0x86, 0xdd) : Uint8Array.of(8, 0),
      packet,
    );
    const roce = rocePacketOf(frame);
    const parsed = roce && parseRocePacket(packet);
    return parsed?.ok ? [parsed.value] : [];
  });
}

interface FlowEnds {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly senderQpn: number;
  readonly receiverQpn: number;
}

const PSN_START = 1000;

/** One reliable connection: data from one port to another, sent and watched by the test. */
export class Flow {
  readonly ends: FlowEnds;
  /** Of the next data packet. */
  psn = PSN_START;
  readonly #from: Pick<Port, 'send'>;
  readonly #to: Pick<Port, 'send'>;
  readonly #template: DataTemplate;
  readonly #wire: { source: IpAddress; destination: IpAddress; sourcePort: number };
  readonly #back: { source: IpAddress; destination: IpAddress; sourcePort: number };

  constructor(from: Pick<Port, 'send'>, to: Pick<Port, 'send'>, ends: FlowEnds, payloadLength = 1024) {
    this.ends = ends;
    this.#from = from;
    this.#to = to;
    const sourcePort = sourcePortOf(ends.senderQpn, ends.receiverQpn);
    this.#wire = { source: ends.source, destination: ends.destination, sourcePort };
    this.#back = { source: ends.destination, destination: ends.source, sourcePort };
    this.#template = new DataTemplate(
      this.#wire,
      ends.receiverQpn,
      new Uint8Array(payloadLength).map((_, i) => i),
    );
  }

  /** Of a data packet, from the IP header on. */
  get packetLength(): number {
    return this.#template.packet.length;
  }

  /** REQ, REP and RTU, as connection managers exchange them. */
  connect(): void {
    const { source, destination, senderQpn, receiverQpn } = this.ends;
    const active = new ActiveConnection(
      { address: source, qpn: senderQpn, commId: senderQpn + 1, startingPsn: PSN_START },
      destination,
      { port: 18515, payloadSize: 1024 },
    );
    const req = active.poll(0) as CmReq;
    const passive = new PassiveConnection(
      { address: destination, qpn: receiverQpn, commId: receiverQpn + 1, startingPsn: 1 },
      req,
    );
    const transaction = BigInt(senderQpn);
    this.#from.send(buildCmPacket(this.#wire, transaction, req));
    this.#to.send(buildCmPacket(this.#back, transaction, passive.reply()));
    this.#from.send(buildCmPacket(this.#wire, transaction, active.onMessage(passive.reply())!));
  }

  /** The IP packet with the next PSN. */
  next(ackRequest = false): Uint8Array {
    return this.#template.fill({ psn: this.psn++ & 0xffffff, opcode: OPCODE.sendOnly, ackRequest }).slice();
  }

  send(count: number): void {
    for (let i = 0; i < count; i++) this.#from.send(this.next());
  }

  /** A packet that asks for an answer, and the answer. */
  exchange(): void {
    const psn = this.psn;
    this.#from.send(this.next(true));
    this.#to.send(buildAcknowledge(this.#back, this.ends.senderQpn, psn, { kind: 'ack', value: 31, msn: 0 }));
  }

  /** Whether a packet is one of this flow's data packets. */
  owns = (packet: RocePacket): boolean =>
    packet.bth.opcode === OPCODE.sendOnly &&
    packet.bth.destQpn === this.ends.receiverQpn &&
    sameAddress(packet.source, this.ends.source);

  /** Whether a packet is a CNP for this flow's sender. */
  isNotification = (packet: RocePacket): boolean =>
    packet.bth.opcode === OPCODE.cnp &&
    packet.bth.destQpn === this.ends.senderQpn &&
    sameAddress(packet.destination, this.ends.source);

  /** As `cnpctl show flows` names it. */
  get names(): Record<string, unknown> {
    const { source, destination, receiverQpn } = this.ends;
    return { source: formatAddress(source), destination: formatAddress(destination), 'destination-qpn': receiverQpn };
  }
}
