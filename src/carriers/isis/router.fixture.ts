// For tests: a small point-to-point IS-IS router of both levels, written independently of the speaker. It keeps LSPs
// verbatim and floods them, as FRR does, without reading their contents. It retransmits nothing, because its wires lose
// nothing.
import { foreignLsp, fragmentOf } from '../../packet/isis/foreign.fixture.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, formatLspId } from '../../packet/isis/lsp-id.ts';
import { decodePdu, encodePdu } from '../../packet/isis/pdu.ts';
import type { IsisTlv } from '../../packet/isis/tlv/types.ts';
import type { Level, P2pHello } from '../../packet/isis/types.ts';
import { type Port, type Simulation, systemId } from './simulation.fixture.ts';

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
  /** TLVs of its own LSPs, besides its neighbors. */
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
    const port: RouterPort = {
      send,
      up: false,
      circuitId: this.ports.length + 1,
      deliver: (bytes) => this.receive(port, bytes),
    };
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
    const neighbor = port.neighbor && {
      neighborSystemId: port.neighbor.systemId,
      neighborCircuitId: port.neighbor.circuitId,
    };
    const state = port.up ? 'up' : port.neighbor ? 'initializing' : 'down';
    const tlvs: IsisTlv[] = [
      { kind: 'area-addresses', areas: [this.area] },
      { kind: 'three-way-adjacency', state, circuitId: port.circuitId, ...neighbor },
    ];
    port.send(
      encodePdu({
        kind: 'p2p-hello',
        circuitType: 3,
        systemId: this.id,
        holdingTime: 10,
        localCircuitId: port.circuitId,
        tlvs,
      }),
    );
  }

  private receive(port: RouterPort, bytes: Uint8Array): void {
    const decoded = decodePdu(bytes);
    if (!decoded.ok) return;
    const pdu = decoded.value;
    if (pdu.kind === 'p2p-hello') this.receiveHello(port, pdu);
    else if (pdu.kind === 'lsp')
      this.receiveLsp(port, pdu.level, pdu.raw, formatLspId(pdu.lspId), pdu.sequence, pdu.remainingLifetime);
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
      for (const lsp of this.lsps[level].values()) port.send(lsp.raw);
      port.send(encodePdu({ kind: 'csnp', level, systemId: this.id, start: FIRST_LSP_ID, end: LAST_LSP_ID, tlvs: [] }));
    }
  }

  private receiveLsp(
    port: RouterPort,
    level: Level,
    raw: Uint8Array,
    key: string,
    sequence: number,
    lifetime: number,
  ): void {
    const known = this.lsps[level].get(key);
    const lspId = { systemId: raw.slice(12, 18), pseudonode: raw[18]!, fragment: raw[19]! };
    const checksum = (raw[24]! << 8) | raw[25]!;
    const ack: IsisTlv = { kind: 'lsp-entries', entries: [{ lspId, sequence, checksum, remainingLifetime: lifetime }] };
    port.send(encodePdu({ kind: 'psnp', level, systemId: this.id, tlvs: [ack] }));
    const newer =
      !known || sequence > known.sequence || (sequence === known.sequence && lifetime === 0 && known.lifetime > 0);
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
      const lspId = fragmentOf(this.id);
      const raw = foreignLsp(lspId, { level, sequence: this.sequence, overload: this.overload, tlvs });
      this.lsps[level].set(formatLspId(lspId), { raw, sequence: this.sequence, lifetime: 1200 });
      for (const port of this.ports) if (port.up) port.send(raw);
    }
  }
}
