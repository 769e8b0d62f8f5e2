// The router beside the measured agent: the other end of its IS-IS link. It keeps the adjacency, acknowledges what the
// agent floods and notes it, and floods what the bench gives it, as fast as it can. No database, no retransmission:
// a lost frame fails the measurement.
import { isKernelError } from '../../../kernel/errors.ts';
import type { Netns } from '../../../kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../../kernel/packet-socket.ts';
import { address } from '../../../model/address.ts';
import { ALL_ISS, decodeFrame, encodeFrame } from '../../../packet/isis/frame.ts';
import { formatLspId, parseSystemId } from '../../../packet/isis/lsp-id.ts';
import { decodePdu, encodePdu } from '../../../packet/isis/pdu.ts';
import type { Lsp, P2pHello, Received } from '../../../packet/isis/types.ts';
import { type Bench, until } from '../bench.ts';
import { NEIGHBOR_SYSTEM } from './isis-network.ts';

const SYSTEM = parseSystemId(NEIGHBOR_SYSTEM)!;
const CIRCUIT = 7;
const HELLO_MS = 1000;

interface FloodedLsp {
  readonly id: string;
  readonly sequence: number;
  readonly at: number;
}

export class Neighbor {
  /** What the agent flooded, in order; a retransmission is there again. */
  readonly flooded: FloodedLsp[] = [];
  /** LSP IDs that the agent acknowledged, with the sequence number. */
  readonly acknowledged = new Map<string, number>();
  #socket!: PacketSocket;
  #agent: P2pHello | undefined;
  #up = false;
  #timer: NodeJS.Timeout | undefined;

  /** Waits until the agent has made the link, then until the adjacency is up. */
  async join(bench: Bench, netns: Netns, name: string): Promise<void> {
    await until(`the agent's interface ${name}`, () => this.#open(bench, netns, name), bench.signal);
    this.#timer = setInterval(() => this.#hello(), HELLO_MS);
    bench.finally(() => {
      clearInterval(this.#timer);
      this.#socket.close();
    });
    this.#hello();
    await until('the adjacency', () => this.#up, bench.signal);
  }

  /** Floods LSPs one behind the other. Returns when the last one has arrived, ms of performance.now(). */
  flood(lsps: readonly Uint8Array[]): number {
    const frames = lsps.map((pdu) => encodeFrame(this.#socket.mac, ALL_ISS, pdu));
    for (const frame of frames) this.#socket.send(frame);
    return performance.now();
  }

  #open(bench: Bench, netns: Netns, name: string): boolean {
    try {
      this.#socket = openPacketSocket(
        { interface: name, netns, multicast: [ALL_ISS], receiveBuffer: 32 << 20 },
        { poller: bench.poller, onFrame: (frame) => this.#received(frame), onError: () => {} },
      );
      return true;
    } catch {
      return false;
    }
  }

  #received(frame: Uint8Array): void {
    const decoded = decodeFrame(frame);
    const pdu = decoded.ok ? decodePdu(decoded.value.pdu) : undefined;
    if (!pdu?.ok) return;
    if (pdu.value.kind === 'p2p-hello') this.#onHello(pdu.value);
    else if (pdu.value.kind === 'lsp') this.#onLsp(pdu.value);
    else if (pdu.value.kind === 'psnp') {
      for (const tlv of pdu.value.tlvs)
        if (tlv.kind === 'lsp-entries')
          for (const e of tlv.entries) this.acknowledged.set(formatLspId(e.lspId), e.sequence);
    }
  }

  #onHello(hello: P2pHello): void {
    const first = this.#agent === undefined;
    this.#agent = hello;
    const theirs = hello.tlvs.find((tlv) => tlv.kind === 'three-way-adjacency');
    const wasUp = this.#up;
    this.#up = theirs?.state === 'up';
    if (first || !this.#up || !wasUp) this.#hello();
  }

  #onLsp(lsp: Lsp & Received): void {
    const { lspId, sequence, checksum, remainingLifetime } = lsp;
    this.flooded.push({ id: formatLspId(lspId), sequence, at: performance.now() });
    this.#send(
      encodePdu({
        kind: 'psnp',
        level: 2,
        systemId: SYSTEM,
        tlvs: [{ kind: 'lsp-entries', entries: [{ lspId, sequence, checksum, remainingLifetime }] }],
      }),
    );
  }

  #hello(): void {
    const agent = this.#agent;
    const theirs = agent?.tlvs.find((tlv) => tlv.kind === 'three-way-adjacency');
    const state = agent ? (theirs?.state === 'down' ? 'initializing' : 'up') : 'down';
    this.#send(
      encodePdu({
        kind: 'p2p-hello',
        circuitType: 2,
        systemId: SYSTEM,
        holdingTime: 60,
        localCircuitId: CIRCUIT,
        tlvs: [
          { kind: 'protocols-supported', nlpids: [0xcc, 0x8e] },
          { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] },
          { kind: 'ipv6-interface-addresses', addresses: [address('fe80::1')] },
          {
            kind: 'three-way-adjacency',
            state,
            circuitId: CIRCUIT,
            ...(agent &&
              theirs?.circuitId !== undefined && {
                neighborSystemId: agent.systemId,
                neighborCircuitId: theirs.circuitId,
              }),
          },
        ],
      }),
    );
  }

  /** The link is the agent's: it goes when the agent does. */
  #send(pdu: Uint8Array): void {
    try {
      this.#socket.send(encodeFrame(this.#socket.mac, ALL_ISS, pdu));
    } catch (error) {
      if (!isKernelError(error, 'ENXIO') && !isKernelError(error, 'ENETDOWN') && !isKernelError(error, 'ENODEV'))
        throw error;
      clearInterval(this.#timer);
    }
  }
}
