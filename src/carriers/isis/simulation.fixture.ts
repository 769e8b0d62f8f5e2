// For tests: speakers joined by wires in virtual time. A wire delivers after 1 ms unless its filter drops the PDU.
import { type Declared, byKind, origination as originationOf } from '../../model/advertisement.fixture.ts';
import type { AdvertisementOf, LearnedOf, LearnedReport, Origination } from '../../model/advertisement.ts';
import { type IpAddress, address } from '../../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { prefix } from '../../model/prefix.ts';
import { formatSystemId, parseSystemId } from '../../packet/isis/lsp-id.ts';
import { decodePdu } from '../../packet/isis/pdu.ts';
import type { ReceivedPdu } from '../../packet/isis/types.ts';
import { LSDB_BYTES, LSDB_LIMIT } from './constants.ts';
import type { AreaTopology } from '../../model/topology.ts';
import type { Effect, Speaker, SpeakerConfig, SpeakerEvent } from './state.ts';
import type { IsisKinds } from './kinds/table.ts';
import { createSpeaker, handle } from './speaker.ts';
import { nextWake } from './tasks.ts';

export const systemId = (text: string): Uint8Array => parseSystemId(text)!;

export function testConfig(system: string, overrides: Partial<SpeakerConfig> = {}): SpeakerConfig {
  return {
    systemId: systemId(system),
    area: Uint8Array.of(0x49, 0x00, 0x01),
    levels: [2],
    mtu: 1500,
    circuitId: 1,
    codePoints: DEFAULT_CODE_POINTS,
    startSequence: 1000,
    seed: 1,
    lsdbLimit: LSDB_LIMIT,
    lsdbBytes: LSDB_BYTES,
    helloIntervalMs: 3000,
    holdMultiplier: 10,
    lifetimeSeconds: 1200,
    refreshSeconds: 900,
    holdUnreachableMs: 120_000,
    keys: {},
    ...overrides,
  };
}

/** The default of `end-con-behavior`. */
export const END_CON = DEFAULT_CODE_POINTS['end-con-behavior'];

export const endCon = (sid: string, locator: string, behavior = END_CON): AdvertisementOf<'sid'> => ({
  kind: 'sid',
  sid: address(sid),
  locator: prefix(locator),
  behavior,
});

/** A declaration: proxies and other advertisements. */
export const origination = (proxies: NonNullable<Declared['proxies']>, rest: Declared = {}): Origination =>
  originationOf({ ...rest, proxies });

export const originate = (...args: Parameters<typeof origination>): SpeakerEvent => ({
  type: 'originate',
  origination: origination(...args),
});

export const proxied = (
  text: string,
  proxy = '2001:db8:ffff::1',
): AdvertisementOf<'sender-prefix'> & { readonly proxy: IpAddress } => ({
  kind: 'sender-prefix',
  prefix: prefix(text),
  proxy: address(proxy),
});

/** A participant with one end of a wire. */
export interface Port {
  deliver(pdu: Uint8Array): void;
}

type Attach = (send: (pdu: Uint8Array) => void) => Port;

export interface Wire {
  /** False drops the PDU. `from` is the end that sent it. */
  filter: (pdu: ReceivedPdu, from: 0 | 1, bytes: Uint8Array) => boolean;
  sent: number;
  /** Replaces the participant at an end. */
  plug(end: 0 | 1, attach: Attach): void;
}

export class Simulation {
  now = 0;
  private readonly members: { wakeAt(): number; wake(): void }[] = [];
  private inFlight: { at: number; to: Port; pdu: Uint8Array }[] = [];

  wire(a: Attach, b: Attach): Wire {
    const ends: (Port | undefined)[] = [];
    const send = (from: 0 | 1, generation: Attach, pdu: Uint8Array): void => {
      if (plugged[from] !== generation) return;
      const decoded = decodePdu(pdu);
      wire.sent++;
      if (decoded.ok && !wire.filter(decoded.value, from, pdu)) return;
      const to = { deliver: (bytes: Uint8Array) => ends[1 - from]?.deliver(bytes) };
      this.inFlight.push({ at: this.now + 1, to, pdu: pdu.slice() });
    };
    const plugged: Attach[] = [];
    const plug = (end: 0 | 1, attach: Attach): void => {
      plugged[end] = attach;
      ends[end] = attach((pdu) => send(end, attach, pdu));
    };
    const wire: Wire = { filter: () => true, sent: 0, plug };
    plug(0, a);
    plug(1, b);
    return wire;
  }

  join(member: { wakeAt(): number; wake(): void }): void {
    this.members.push(member);
  }

  leave(member: { wakeAt(): number; wake(): void }): void {
    this.members.splice(this.members.indexOf(member), 1);
  }

  /** Lets virtual time pass. */
  run(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const wake = Math.max(
        this.now,
        Math.min(...this.members.map((m) => m.wakeAt()), ...this.inFlight.slice(0, 1).map((f) => f.at)),
      );
      if (wake > end) break;
      this.now = wake;
      const arrived = this.inFlight.filter((f) => f.at <= wake);
      this.inFlight = this.inFlight.filter((f) => f.at > wake);
      for (const { to, pdu } of arrived) to.deliver(pdu);
      for (const member of [...this.members]) if (member.wakeAt() <= wake) member.wake();
    }
    this.now = end;
  }

  /** Runs until the condition holds. @throws when it does not within `limit` of virtual time */
  until(what: string, condition: () => boolean, limit = 60_000): void {
    const end = this.now + limit;
    while (!condition()) {
      if (this.now >= end) throw new Error(`not within ${limit} ms: ${what}`);
      this.run(10);
    }
  }
}

/** A speaker in a simulation, and the effects that it asked for. */
export class Agent implements Port {
  readonly speaker: Speaker;
  readonly counters = new Map<string, number>();
  readonly reports = new Map<string, LearnedReport>();
  readonly sent: Uint8Array[] = [];
  /** Warnings logged. */
  readonly logged: { readonly message: string; readonly fields: object }[] = [];
  reachable: ReadonlySet<string> = new Set();
  /** Every report of the topology, the latest last. */
  readonly topologies: (readonly AreaTopology[])[] = [];
  stopped: boolean | undefined;
  private send: (pdu: Uint8Array) => void = () => {};
  private readonly simulation: Simulation;

  constructor(simulation: Simulation, config: SpeakerConfig, kinds?: IsisKinds) {
    this.simulation = simulation;
    this.speaker = createSpeaker(config, formatSystemId(config.systemId), kinds);
    simulation.join(this);
  }

  attach = (send: (pdu: Uint8Array) => void): Port => {
    this.send = send;
    this.event({ type: 'link-up', linkLocal: address('fe80::1') });
    return this;
  };

  event(event: SpeakerEvent): void {
    for (const effect of handle(this.speaker, event, this.simulation.now)) this.carryOut(effect);
  }

  /** Kills the process: nothing is sent any more. */
  kill(): void {
    this.simulation.leave(this);
    this.send = () => {};
  }

  deliver(pdu: Uint8Array): void {
    this.event({ type: 'received', pdu });
  }

  wakeAt(): number {
    return nextWake(this.speaker);
  }

  wake(): void {
    this.event({ type: 'timer' });
  }

  count(name: string): number {
    return this.counters.get(name) ?? 0;
  }

  get state(): string {
    return this.speaker.adjacency?.state ?? 'none';
  }

  /** Everything learned now: `L2 <prefix text>` → proxy text. */
  prefixes(): LearnedOf<'sender-prefix'>[] {
    return [...this.reports.values()].flatMap((r) => byKind(r.advertisements).prefixes);
  }

  /** Every SID learned now. */
  sids(): LearnedOf<'sid'>[] {
    return [...this.reports.values()].flatMap((r) => byKind(r.advertisements).sids);
  }

  protected carryOut(effect: Effect): void {
    if (effect.type === 'send') {
      this.sent.push(effect.pdu);
      this.send(effect.pdu);
    } else if (effect.type === 'count') this.counters.set(effect.name, this.count(effect.name) + effect.by);
    else if (effect.type === 'learned') {
      if (effect.report.advertisements.length > 0) this.reports.set(effect.report.source, effect.report);
      else this.reports.delete(effect.report.source);
    } else if (effect.type === 'reachability') this.reachable = effect.reachable;
    else if (effect.type === 'topology') this.topologies.push(effect.areas);
    else if (effect.type === 'stopped') this.stopped = effect.clean;
    else this.logged.push(effect);
  }
}
