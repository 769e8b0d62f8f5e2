// The router beside the measured agent on its OSPF link: cnpd's own OSPF core on FRR's end of the veth, with a database
// that the bench fills. The LSAs of a measured flood go past the core, one update behind the other and as fast as
// ordered: the core would wait MinLSInterval and pace them.
import { put } from '../../../carriers/ospf/lsdb/lsdb.ts';
import { type OspfChange, OspfRunner } from '../../../carriers/ospf/runner.edge.ts';
import type { SpeakerConfig } from '../../../carriers/ospf/state.ts';
import type { OspfVersion } from '../../../carriers/ospf/version.ts';
import { linkLocalOf } from '../../../carriers/router-link.edge.ts';
import type { Netns } from '../../../kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../../kernel/packet-socket.ts';
import { type IpAddress, address } from '../../../model/address.ts';
import { systemClock } from '../../../model/clock.ts';
import { eventLoopWork } from '../../../model/work.ts';
import { ETHERTYPE, encodeFrames } from '../../../packet/ospf/frame.ts';
import { DEFAULT_PRIVATE_TYPES } from '../../../packet/ospf/lsa.ts';
import { encodePacket } from '../../../packet/ospf/packet.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { type Bench, until } from '../bench.ts';
import { OSPF_LINK, OSPF_LINK_ADDRESSES } from './ospf-network.ts';

const AREA = 0;
const MTU = 1500;
const HELLO_SECONDS = 1;
const DEAD_SECONDS = 40;
const RETRANSMIT_MS = 5000;
const LSDB_LIMIT = 40_000;

/** What cnpd.yaml says for the agent's end. */
export const ospfSection = (version: 2 | 3, routerId: string, link = OSPF_LINK): string => `ospfv${version}:
  router-id: ${routerId}
  areas:
    - { area: ${AREA}, interface: ${link}${version === 2 ? `, link: ${OSPF_LINK_ADDRESSES[0]}/31` : ''} }
  hello-interval: ${HELLO_SECONDS}s
  dead-interval: ${DEAD_SECONDS}s
`;

export class OspfNeighbor {
  readonly #version: OspfVersion;
  readonly #routerId: number;
  #runner: OspfRunner | undefined;
  #socket!: PacketSocket;
  #source!: IpAddress;
  #full = false;
  readonly #link: string;

  constructor(version: OspfVersion, routerId: number, link = OSPF_LINK) {
    this.#version = version;
    this.#routerId = routerId;
    this.#link = link;
  }

  /** Waits until the agent has made the link. */
  async attach(bench: Bench, netns: Netns): Promise<void> {
    await until(`the agent's interface ${this.#link}`, () => this.#open(bench, netns), bench.signal);
    bench.finally(() => {
      this.#runner?.close();
      this.#socket.close();
    });
  }

  /**
   * Begins to speak, as a router that has just started does, with these LSAs in its database; waits until its neighbor
   * is Full.
   */
  async join(bench: Bench, netns: Netns, database: readonly Lsa[] = []): Promise<void> {
    this.#runner?.close();
    this.#full = false;
    const runner = new OspfRunner(this.#config(), {
      poller: bench.poller,
      clock: systemClock,
      work: eventLoopWork(),
      log: {
        debug: () => {},
        info: () => {},
        warn: (_fields, message) => bench.say(`neighbor: ${message}`),
        error: (_fields, message) => bench.say(`neighbor: ${message}`),
      },
      count: () => {},
      onChange: (change) => this.#changed(change),
    });
    this.#runner = runner;
    const { lsdb } = runner.speaker.areas.get(AREA)!;
    for (const lsa of database) put(lsdb, lsa, false, systemClock.now(), false);
    runner.linkUp({
      areaId: AREA,
      interface: this.#link,
      netns,
      address: this.#source,
      peer: this.#version.version === 2 ? address(OSPF_LINK_ADDRESSES[1]) : undefined,
    });
    await until('Full', () => this.#full, bench.signal, 60_000);
  }

  /** Frames with these LSAs, an update each. */
  frames(lsas: readonly Lsa[]): Uint8Array[] {
    const { version, destination } = this.#version;
    const addresses = { source: this.#source, destination };
    return lsas.flatMap((lsa, n) => {
      const packet = encodePacket(
        version,
        { kind: 'link-state-update', routerId: this.#routerId, areaId: AREA, instanceId: 0, lsas: [lsa] },
        addresses,
      );
      return encodeFrames(version, this.#socket.mac, addresses, packet, MTU, n + 1);
    });
  }

  /** Sends frames one behind the other. Returns when the last one has arrived, ms of performance.now(). */
  flood(frames: readonly Uint8Array[]): number {
    for (const frame of frames) this.#socket.send(frame);
    return performance.now();
  }

  #open(bench: Bench, netns: Netns): boolean {
    try {
      const { version } = this.#version;
      this.#socket = openPacketSocket(
        { interface: this.#link, netns, protocol: ETHERTYPE[version] },
        { poller: bench.poller, onFrame: () => {}, onError: () => {} },
      );
      this.#source = version === 2 ? address(OSPF_LINK_ADDRESSES[0]) : linkLocalOf(this.#socket.mac);
      return true;
    } catch {
      return false;
    }
  }

  #changed(change: OspfChange): void {
    if (change.type === 'adjacency') this.#full = change.neighbor !== undefined;
  }

  #config(): SpeakerConfig {
    const area = {
      areaId: AREA,
      instanceId: 0,
      mtu: MTU,
      ignoreMtu: false,
      interfaceId: 7,
      helloSeconds: HELLO_SECONDS,
      deadSeconds: DEAD_SECONDS,
      retransmitMs: RETRANSMIT_MS,
      keys: [],
    };
    return {
      version: this.#version,
      routerId: this.#routerId,
      areas: [area],
      authenticationBase: 1,
      seed: 1,
      lsdbLimit: LSDB_LIMIT,
      privateTypes: DEFAULT_PRIVATE_TYPES,
    };
  }
}
