// For tests: speakers and routers joined by wires in virtual time. A wire delivers after 1 ms unless its filter loses the PDU. `Router` is a
// small point-to-point IS-IS router written apart from the speaker: it keeps LSPs verbatim and floods them, as FRR does.
import type { ProxyPrefix } from '../../model/advertisement.ts';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, formatLspId, formatSystemId, parseSystemId } from '../../packet/isis/lsp-id.ts';
import { decodePdu, encodePdu } from '../../packet/isis/pdu.ts';
import type { IsisTlv, Level, LspEntry, P2pHello, ReceivedPdu } from '../../packet/isis/types.ts';
import type { LearnedReport } from '../../model/advertisement.ts';
import { LSDB_LIMIT } from './constants.ts';
import { handle } from './events.ts';
import { type Effect, type Speaker, type SpeakerConfig, type SpeakerEvent, createSpeaker } from './speaker.ts';
import { nextWake } from './tasks.ts';

export const systemId = (text: string): Uint8Array => parseSystemId(text)!;

export function testConfig(system: string, overrides: Partial<SpeakerConfig> = {}): SpeakerConfig {
  return {
    systemId: systemId(system),
    area: Uint8Array.of(0x49, 0x00, 0x01),
    levels: [2],
    mtu: 1500,
    circuitId: 1,
    pncFlagBit: 7,
    startSequence: 1000,
    seed: 1,
    lsdbLimit: LSDB_LIMIT,
    helloIntervalMs: 3000,
    holdMultiplier: 10,
    lifetimeSeconds: 1200,
    refreshSeconds: 900,
    holdUnreachableMs: 120_000,
    keys: {},
    ...overrides,
  };
}

export const proxied = (text: string, proxy = '2001:db8:ffff::1'): ProxyPrefix => ({ prefix: prefix(text), proxy: address(proxy) });

/** Something with one end of a wire. */
interface Port {
  deliver(pdu: Uint8Array): void;
}

type Attach = (send: (pdu: Uint8Array) => void) => Port;

export interface Wire {
  /** False loses the PDU. `from` is the end that sent it. */
  filter: (pdu: ReceivedPdu, from: 0 | 1, bytes: Uint8Array) => boolean;
  sent: number;
  /** Puts somebody else at an end. */
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
      const wake = Math.max(this.now, Math.min(...this.members.map((m) => m.wakeAt()), ...this.inFlight.slice(0, 1).map((f) => f.at)));
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

/** A speaker in a simulation, with what it asked for. */
export class Agent implements Port {
  readonly speaker: Speaker;
  readonly counters = new Map<string, number>();
  readonly reports = new Map<string, LearnedReport>();
  readonly sent: Uint8Array[] = [];
  reachable: ReadonlySet<string> = new Set();
  stopped: boolean | undefined;
  private send: (pdu: Uint8Array) => void = () => {};
  private readonly simulation: Simulation;

  constructor(simulation: Simulation, config: SpeakerConfig) {
    this.simulation = simulation;
    this.speaker = createSpeaker(config, formatSystemId(config.systemId));
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

  /** The process is killed: nothing is said any more. */
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
  prefixes(): LearnedReport['prefixes'] {
    return [...this.reports.values()].flatMap((r) => r.prefixes);
  }

  private carryOut(effect: Effect): void {
    if (effect.type === 'send') {
      this.sent.push(effect.pdu);
      this.send(effect.pdu);
    } else if (effect.type === 'count') this.counters.set(effect.name, this.count(effect.name) + effect.by);
    else if (effect.type === 'learned') {
      if (effect.report.prefixes.length > 0) this.reports.set(effect.report.source, effect.report);
      else this.reports.delete(effect.report.source);
    } else if (effect.type === 'reachability') this.reachable = effect.reachable;
    else if (effect.type === 'stopped') this.stopped = effect.clean;
  }
}

interface RouterPort extends Port {
  send: (pdu: Uint8Array) => void;
  neighbor?: { systemId: Uint8Array; circuitId: number };
  up: boolean;
  circuitId: number;
}

interface RouterLsp {
  raw: Uint8Array;
  sequence: number;
  lifetime: number;
}

/** A router of levels 1 and 2 with any number of circuits. */
export class Router {
  readonly lsps: Record<Level, Map<string, RouterLsp>> = { 1: new Map(), 2: new Map() };
  readonly ports: RouterPort[] = [];
  overload = false;
  /** TLVs of its own LSPs beside its neighbours. */
  extra: IsisTlv[] = [];
  private readonly id: Uint8Array;
  private readonly area: Uint8Array;
  private sequence = 0;
  private nextHello = 0;
  private readonly simulation: Simulation;

  constructor(simulation: Simulation, system: string, area = Uint8Array.of(0x49, 0x00, 0x01)) {
    this.simulation = simulation;
    this.id = systemId(system);
    this.area = area;
    simulation.join(this);
  }

  attach = (send: (pdu: Uint8Array) => void): Port => {
    const port: RouterPort = { send, up: false, circuitId: this.ports.length + 1, deliver: (bytes) => this.receive(port, bytes) };
    this.ports.push(port);
    return port;
  };

  wakeAt(): number {
    return this.nextHello;
  }

  wake(): void {
    this.nextHello = this.simulation.now + 3000;
    for (const port of this.ports) this.hello(port);
  }

  /** The link of this circuit is cut. */
  cut(port: number): void {
    const { [port]: cut } = this.ports;
    cut!.up = false;
    delete cut!.neighbor;
    cut!.send = cut!.deliver = () => {};
    this.originate();
  }

  private hello(port: RouterPort): void {
    const neighbor = port.neighbor && { neighborSystemId: port.neighbor.systemId, neighborCircuitId: port.neighbor.circuitId };
    const state = port.up ? 'up' : port.neighbor ? 'initializing' : 'down';
    const tlvs: IsisTlv[] = [
      { kind: 'area-addresses', areas: [this.area] },
      { kind: 'three-way-adjacency', state, circuitId: port.circuitId, ...neighbor },
    ];
    port.send(encodePdu({ kind: 'p2p-hello', circuitType: 3, systemId: this.id, holdingTime: 10, localCircuitId: port.circuitId, tlvs }));
  }

  private receive(port: RouterPort, bytes: Uint8Array): void {
    const decoded = decodePdu(bytes);
    if (!decoded.ok) return;
    const pdu = decoded.value;
    if (pdu.kind === 'p2p-hello') this.receiveHello(port, pdu);
    else if (pdu.kind === 'lsp') this.receiveLsp(port, pdu.level, pdu.raw, formatLspId(pdu.lspId), pdu.sequence, pdu.remainingLifetime);
    else if (pdu.kind === 'psnp' || pdu.kind === 'csnp') {
      const listed = pdu.tlvs.flatMap((t) => (t.kind === 'lsp-entries' ? t.entries : []));
      for (const entry of listed) {
        const known = this.lsps[pdu.level].get(formatLspId(entry.lspId));
        if (known && known.sequence > entry.sequence) port.send(known.raw);
      }
    }
  }

  private receiveHello(port: RouterPort, hello: P2pHello): void {
    const theirs = hello.tlvs.find((t) => t.kind === 'three-way-adjacency')!;
    const wasUp = port.up;
    const known = port.neighbor !== undefined;
    port.neighbor = { systemId: hello.systemId.slice(), circuitId: theirs.circuitId! };
    port.up = theirs.state === 'initializing' || (theirs.state === 'up' && (known || port.up));
    if (theirs.state === 'down') port.up = false;
    if (!known || wasUp !== port.up) this.hello(port);
    if (wasUp === port.up) return;
    this.originate();
    if (port.up) this.synchronize(port);
  }

  private synchronize(port: RouterPort): void {
    for (const level of [1, 2] as const) {
      const entries: LspEntry[] = [];
      for (const lsp of this.lsps[level].values()) port.send(lsp.raw);
      const tlvs: IsisTlv[] = entries.length > 0 ? [{ kind: 'lsp-entries', entries }] : [];
      port.send(encodePdu({ kind: 'csnp', level, systemId: this.id, start: FIRST_LSP_ID, end: LAST_LSP_ID, tlvs }));
    }
  }

  private receiveLsp(port: RouterPort, level: Level, raw: Uint8Array, key: string, sequence: number, lifetime: number): void {
    const known = this.lsps[level].get(key);
    const lspId = { systemId: raw.slice(12, 18), pseudonode: raw[18]!, fragment: raw[19]! };
    const checksum = (raw[24]! << 8) | raw[25]!;
    const ack: IsisTlv = { kind: 'lsp-entries', entries: [{ lspId, sequence, checksum, remainingLifetime: lifetime }] };
    port.send(encodePdu({ kind: 'psnp', level, systemId: this.id, tlvs: [ack] }));
    const newer = !known || sequence > known.sequence || (sequence === known.sequence && lifetime === 0 && known.lifetime > 0);
    if (!newer) return;
    this.lsps[level].set(key, { raw, sequence, lifetime });
    for (const other of this.ports) if (other !== port && other.up) other.send(raw);
  }

  originate(): void {
    this.sequence++;
    for (const level of [1, 2] as const) {
      const neighbors = this.ports
        .filter((p) => p.up)
        .map((p) => ({ systemId: p.neighbor!.systemId, pseudonode: 0, metric: 10, subTlvs: new Uint8Array(0) }));
      const tlvs: IsisTlv[] = [{ kind: 'extended-is-reachability', neighbors }, ...this.extra];
      const lspId = { systemId: this.id, pseudonode: 0, fragment: 0 };
      const fixed = { checksum: 0, partitionRepair: false, attached: false, overload: this.overload, isType: 3 };
      const raw = encodePdu({ kind: 'lsp', level, remainingLifetime: 1200, lspId, sequence: this.sequence, ...fixed, tlvs });
      this.lsps[level].set(formatLspId(lspId), { raw, sequence: this.sequence, lifetime: 1200 });
      for (const port of this.ports) if (port.up) port.send(raw);
    }
  }
}
