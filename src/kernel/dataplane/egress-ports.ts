// The monitored ports as a table by interface index. Its base is an array map, whose look-up costs a packet nothing. A
// port has the first free one of four slots from its index on (bpf/lib/detector/layout.h). When a slot is reassigned,
// the data of its former port are cleared.
import {
  EGRESS_MAPS,
  EGRESS_PORT_RATE,
  EGRESS_PORT_SIZE,
  PORT_PROBES,
  PORT_SLOTS,
  decodeEgressPort,
} from './egress.ts';
import {
  EGRESS_MEASURE_SIZE,
  EGRESS_OPAQUE_SIZE,
  EGRESS_STATS_SIZE,
  type EgressMeasure,
  type EgressStats,
  type OpaquePackets,
  decodeEgressMeasure,
  decodeEgressStats,
  decodeOpaque,
} from './egress-measurements.ts';
import { LITTLE_ENDIAN, readU32Key, u32Key, viewOf } from './layout.ts';

/** The operations of an array map that are needed. */
export interface SlotMap {
  lookup(key: Uint8Array): Uint8Array | undefined;
  update(key: Uint8Array, value: Uint8Array): void;
}

/** All possible slots of an interface index are taken. */
export class PortSlotsFull extends Error {
  override readonly name = 'PortSlotsFull';
  readonly code = 'ENOSPC';

  constructor(ifindex: number) {
    super(
      `no slot for interface ${ifindex}: ` +
        `${PORT_PROBES} monitored ports already have indexes that are close to it modulo ${PORT_SLOTS}`,
    );
  }
}

const same = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);

/** Keys are interface indexes (layout.ts's u32Key), values what encodeEgressPort makes. */
export class EgressPortTable {
  private readonly maps: {
    readonly ports: SlotMap;
    readonly stats: SlotMap;
    readonly measures: SlotMap;
    readonly opaque: SlotMap;
    readonly peaks: SlotMap;
    readonly buckets: SlotMap;
  };

  constructor(maps: EgressPortTable['maps']) {
    this.maps = maps;
  }

  /** Over the maps of a loaded egress.bpf.o. */
  static of(object: { map(name: string): SlotMap }): EgressPortTable {
    const { ports, stats, measures, opaque, peaks, buckets } = EGRESS_MAPS;
    return new EgressPortTable({
      ports: object.map(ports),
      stats: object.map(stats),
      measures: object.map(measures),
      opaque: object.map(opaque),
      peaks: object.map(peaks),
      buckets: object.map(buckets),
    });
  }

  lookup(key: Uint8Array): Uint8Array | undefined {
    const slot = this.slot(readU32Key(key));
    return slot === undefined ? undefined : this.at(slot);
  }

  /** @throws PortSlotsFull */
  update(key: Uint8Array, value: Uint8Array): void {
    const ifindex = readU32Key(key);
    const used = this.slot(ifindex);
    const slot = used ?? candidates(ifindex).find((candidate) => decodeEgressPort(this.at(candidate)) === undefined);
    if (slot === undefined) throw new PortSlotsFull(ifindex);
    if (used === undefined) {
      this.maps.stats.update(u32Key(slot), new Uint8Array(EGRESS_STATS_SIZE));
      this.maps.measures.update(u32Key(slot), new Uint8Array(EGRESS_MEASURE_SIZE));
      this.maps.opaque.update(u32Key(slot), new Uint8Array(EGRESS_OPAQUE_SIZE));
      this.maps.peaks.update(u32Key(slot), new Uint8Array(8));
    }
    // The bucket may be closed for as long as a token takes at the old rate.
    if (
      !same(
        this.at(slot).subarray(EGRESS_PORT_RATE.start, EGRESS_PORT_RATE.end),
        value.subarray(EGRESS_PORT_RATE.start, EGRESS_PORT_RATE.end),
      )
    )
      this.maps.buckets.update(u32Key(slot), new Uint8Array(8));
    this.maps.ports.update(u32Key(slot), value);
  }

  delete(key: Uint8Array): boolean {
    const slot = this.slot(readU32Key(key));
    if (slot === undefined) return false;
    this.maps.ports.update(u32Key(slot), new Uint8Array(EGRESS_PORT_SIZE));
    return true;
  }

  *keys(): Generator<Uint8Array> {
    for (let slot = 0; slot < PORT_SLOTS; slot++) {
      const port = decodeEgressPort(this.at(slot));
      if (port) yield u32Key(port.ifindex);
    }
  }

  stats(ifindex: number): EgressStats | undefined {
    const value = this.ofPort(ifindex, this.maps.stats);
    return value && decodeEgressStats(value);
  }

  measure(ifindex: number): EgressMeasure | undefined {
    const value = this.ofPort(ifindex, this.maps.measures);
    return value && decodeEgressMeasure(value);
  }

  /** Packets in tunnels that the program does not look into. */
  opaque(ifindex: number): OpaquePackets | undefined {
    const value = this.ofPort(ifindex, this.maps.opaque);
    return value && decodeOpaque(value);
  }

  /** Deepest queue seen since the slot was assigned or resetPeak, bytes. */
  peakQueueBytes(ifindex: number): number | undefined {
    const value = this.ofPort(ifindex, this.maps.peaks);
    return value && Number(viewOf(value).getBigUint64(0, LITTLE_ENDIAN));
  }

  resetPeak(ifindex: number): void {
    const slot = this.slot(ifindex);
    if (slot !== undefined) this.maps.peaks.update(u32Key(slot), new Uint8Array(8));
  }

  /** Undefined: not monitored. */
  slot(ifindex: number): number | undefined {
    return candidates(ifindex).find((candidate) => decodeEgressPort(this.at(candidate))?.ifindex === ifindex);
  }

  private at(slot: number): Uint8Array {
    const value = this.maps.ports.lookup(u32Key(slot));
    if (!value) throw new RangeError(`the port map has no slot ${slot}`);
    return value;
  }

  private ofPort(ifindex: number, map: SlotMap): Uint8Array | undefined {
    const slot = this.slot(ifindex);
    return slot === undefined ? undefined : map.lookup(u32Key(slot));
  }
}

const candidates = (ifindex: number): number[] =>
  Array.from({ length: PORT_PROBES }, (_, probe) => (ifindex + probe) % PORT_SLOTS);
