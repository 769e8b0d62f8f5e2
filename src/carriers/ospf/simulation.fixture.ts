// For tests: two OSPF speakers on a link in virtual time. The link delivers after 1 ms unless it is set to lose, repeat
// or delay packets; everything passes the real codecs.
import { address } from '../../model/address.ts';
import { DEFAULT_PRIVATE_TYPES } from '../../packet/ospf/lsa.ts';
import { type ReceivedPacket, decodePacket, encodePacket } from '../../packet/ospf/packet.ts';
import type { PacketAddresses } from '../../packet/ospf/packet-header.ts';
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import type { OspfPacket } from '../../packet/ospf/types.ts';
import { LSDB_LIMIT } from './constants.ts';
import { createSpeaker, handle } from './speaker.ts';
import { ageOf } from './lsdb/lsdb.ts';
import type { AreaConfig, AreaState, Effect, Speaker, SpeakerConfig, SpeakerEvent } from './state.ts';
import { nextWake } from './tasks.ts';
import { OSPFV2, OSPFV3, type OspfVersion } from './version.ts';

export const AREA = 1;

export const areaConfig = (overrides: Partial<AreaConfig> = {}): AreaConfig => ({
  areaId: AREA,
  instanceId: 0,
  mtu: 1500,
  ignoreMtu: false,
  interfaceId: 7,
  helloSeconds: 10,
  deadSeconds: 40,
  retransmitMs: 5000,
  keys: [],
  ...overrides,
});

export const testConfig = (
  routerId: number,
  version: OspfVersion = OSPFV2,
  area: Partial<AreaConfig> = {},
  rest: Partial<SpeakerConfig> = {},
): SpeakerConfig => ({
  version,
  routerId,
  areas: [areaConfig(area)],
  privateTypes: DEFAULT_PRIVATE_TYPES,
  authenticationBase: 1000,
  seed: routerId,
  lsdbLimit: LSDB_LIMIT,
  ...rest,
});

/** For tests of both. */
export const VERSIONS: readonly (readonly [string, OspfVersion])[] = [
  ['OSPFv2', OSPFV2],
  ['OSPFv3', OSPFV3],
];

/** Decides what becomes of a packet: when each copy arrives, in milliseconds; none loses it. */
export type Weather = (packet: ReceivedPacket | undefined, from: 0 | 1, payload: Uint8Array) => readonly number[];
export const FAIR: Weather = () => [1];

type WithoutHeader<P> = P extends OspfPacket ? Omit<P, 'routerId' | 'areaId' | 'instanceId'> : never;
/** A packet without its header. */
export type Body<P extends OspfPacket = OspfPacket> = WithoutHeader<P>;

export class Router {
  readonly speaker: Speaker;
  readonly counters = new Map<string, number>();
  /** Keys of other routers' LSAs that are alive, from the effects. */
  readonly notified = new Map<string, string>();
  readonly logged: string[] = [];
  /** Of what was logged. */
  readonly fields: object[] = [];
  stopped: boolean | undefined;

  readonly config: SpeakerConfig;
  /** Sees each event before the speaker does. */
  before: (event: SpeakerEvent, now: number) => void = () => {};

  constructor(config: SpeakerConfig) {
    this.config = config;
    this.speaker = createSpeaker(config);
  }

  get area(): AreaState {
    return this.speaker.areas.get(AREA)!;
  }

  get state(): string {
    return this.area.neighbor?.state ?? 'none';
  }

  count(name: string): number {
    return this.counters.get(`${this.config.version.name}.${name}`) ?? 0;
  }

  note(effect: Effect): void {
    if (effect.type === 'count') this.counters.set(effect.name, (this.counters.get(effect.name) ?? 0) + effect.by);
    else if (effect.type === 'log') {
      this.logged.push(effect.message);
      this.fields.push(effect.fields);
    } else if (effect.type === 'stopped') this.stopped = effect.clean;
    else if (effect.type === 'database') {
      if (effect.lsa)
        this.notified.set(lsaKeyText(effect.key), Buffer.from(effect.lsa.raw.subarray(20)).toString('hex'));
      else this.notified.delete(lsaKeyText(effect.key));
    }
  }

  /** Everything in its database that is not at MaxAge: key, sequence number and contents. */
  database(now: number): string[] {
    const alive = [...this.area.lsdb.byKey.values()].filter((lsa) => ageOf(lsa, now) < 3600);
    return alive.map((lsa) => `${lsa.key} ${lsa.sequence} ${Buffer.from(lsa.raw.subarray(20)).toString('hex')}`).sort();
  }
}

const END: Readonly<Record<2 | 3, readonly [string, string]>> = {
  2: ['10.0.0.1', '10.0.0.2'],
  3: ['fe80::1', 'fe80::2'],
};

export class Link {
  now = 0;
  /** Most effects of one event: what a speaker does in a single turn of the event loop. */
  mostEffects = 0;
  weather: Weather = FAIR;
  /** Every packet sent, decoded when it is not authenticated. */
  readonly sent: { readonly at: number; readonly from: 0 | 1; readonly packet: ReceivedPacket | undefined }[] = [];
  private readonly routers: [Router, Router];
  private inFlight: { readonly at: number; readonly to: 0 | 1; readonly payload: Uint8Array }[] = [];

  constructor(a: Router, b: Router) {
    this.routers = [a, b];
    this.up(0);
    this.up(1);
  }

  private addresses(from: 0 | 1): PacketAddresses {
    const { version } = this.routers[from].config;
    return { source: address(END[version.version][from]), destination: version.destination };
  }

  up(end: 0 | 1): void {
    const { version } = this.routers[end].config.version;
    this.event(end, {
      type: 'link-up',
      areaId: AREA,
      address: this.addresses(end).source,
      peer: version === 2 ? this.addresses(end === 0 ? 1 : 0).source : undefined,
    });
  }

  /** Kills what runs at this end and starts another in its place, with the same configuration unless given. */
  restart(end: 0 | 1, config?: SpeakerConfig): Router {
    const router = new Router(config ?? this.routers[end].config);
    this.routers[end] = router;
    this.up(end);
    return router;
  }

  event(end: 0 | 1, event: SpeakerEvent): void {
    this.routers[end].before(event, this.now);
    const effects = handle(this.routers[end].speaker, event, this.now);
    this.mostEffects = Math.max(this.mostEffects, effects.length);
    for (const effect of effects) {
      this.routers[end].note(effect);
      if (effect.type === 'send') this.send(end, effect.payload);
    }
  }

  /** Hands the router at this end a packet as if the one at the other end, or who pretends to be it, had sent it. */
  hand(to: 0 | 1, body: Body, routerId?: number): void {
    const [from, { version }] = [to === 0 ? 1 : 0, this.routers[to].config] as const;
    const header = { routerId: routerId ?? this.routers[from].config.routerId, areaId: AREA, instanceId: 0 };
    const payload = encodePacket(version.version, { ...body, ...header }, this.addresses(from));
    this.event(to, { type: 'received', areaId: AREA, payload, addresses: this.addresses(from) });
    this.run(0);
  }

  private send(from: 0 | 1, payload: Uint8Array): void {
    const decoded = decodePacket(this.routers[from].config.version.version, payload, this.addresses(from), {
      authenticated: true,
    });
    const packet = decoded.ok ? decoded.value : undefined;
    this.sent.push({ at: this.now, from, packet });
    for (const delay of this.weather(packet, from, payload))
      this.inFlight.push({ at: this.now + delay, to: from === 0 ? 1 : 0, payload: payload.slice() });
    this.inFlight.sort((x, y) => x.at - y.at);
  }

  /** Lets virtual time pass. */
  run(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const wake = Math.max(
        this.now,
        Math.min(...this.routers.map(({ speaker }) => nextWake(speaker)), this.inFlight[0]?.at ?? Infinity),
      );
      if (wake > end) break;
      this.now = wake;
      const arrived = this.inFlight.filter(({ at }) => at <= wake);
      this.inFlight = this.inFlight.filter(({ at }) => at > wake);
      for (const { to, payload } of arrived)
        this.event(to, { type: 'received', areaId: AREA, payload, addresses: this.addresses(to === 0 ? 1 : 0) });
      for (const side of [0, 1] as const)
        if (nextWake(this.routers[side].speaker) <= wake) this.event(side, { type: 'timer' });
    }
    this.now = end;
  }

  /** Runs until the condition holds. @throws when it does not within `limit` of virtual time */
  until(what: string, condition: () => boolean, limit = 120_000): void {
    const end = this.now + limit;
    while (!condition()) {
      if (this.now >= end) throw new Error(`not within ${limit} ms: ${what}`);
      this.run(10);
    }
  }
}
