import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { FLOW_SET_SIZE, FLOW_WAYS, decodeFlowSet } from './flows.ts';
import { LITTLE_ENDIAN, mappedAddress, structure } from './layout.ts';

const FLOW_SIZE = (FLOW_SET_SIZE - 16) / FLOW_WAYS;
const SOURCE = address('2001:db8:1::10');
const DESTINATION = address('2001:db8:2::20');
const END_CON = address('2001:db8:c::1');

interface Fields {
  readonly way: number;
  readonly lastSeen: bigint;
  readonly format?: number;
  readonly action?: number;
  readonly throughEndCon?: boolean;
  readonly datagram?: boolean;
}

/** A set of the table as the program writes it (struct flow_set). */
function flowSet(...flows: readonly Fields[]): Uint8Array {
  return structure(FLOW_SET_SIZE, (view, bytes) => {
    for (const { way, lastSeen, format = 0, action = 0, throughEndCon = false, datagram = false } of flows) {
      const at = 16 + way * FLOW_SIZE;
      const u32 = (field: number, value: number): void => view.setUint32(at + field, value, LITTLE_ENDIAN);
      const u64 = (field: number, value: bigint): void => view.setBigUint64(at + field, value, LITTLE_ENDIAN);
      bytes.set(mappedAddress(SOURCE), at);
      bytes.set(mappedAddress(DESTINATION), at + 16);
      if (throughEndCon) bytes.set(mappedAddress(END_CON), at + 32);
      [datagram ? 0x8012_3456 : 0x123456, datagram ? 77 : 0, 0, 99].forEach((value, i) => u32(48 + 4 * i, value));
      [10n, 20n, 30n, 40n, lastSeen, 60n, 70n].forEach((value, i) => u64(64 + 8 * i, value));
      [5, 7].forEach((value, i) => u32(120 + 4 * i, value));
      if (format === 0) continue;
      u64(128, 1234n);
      [0x64, 130_000_000].forEach((value, i) => u32(136 + 4 * i, value));
      bytes.set([format, 3, action, 230], at + 144);
      view.setUint16(at + 148, 50, LITTLE_ENDIAN);
      view.setUint16(at + 150, 0x8123); // in network order
      view.setUint16(at + 220, 0xc001);
    }
  });
}

describe('a set of the flow table', () => {
  test('gives the flows in it, and what was counted of each', () => {
    const [flow, ...more] = decodeFlowSet(flowSet({ way: 2, lastSeen: 50n }));
    expect(more).toEqual([]);
    expect(flow).toEqual({
      source: SOURCE,
      destination: DESTINATION,
      destinationQpn: 0x123456,
      datagram: false,
      tunnel: null,
      ifindex: 7,
      packets: 10n,
      bytes: 20n,
      congestedBytes: 30n,
      firstSeen: 40n,
      lastSeen: 50n,
      lastPsn: 5,
      notices: 70n,
      told: null,
    });
  });

  test('leaves out what has aged, and free ways', () => {
    const set = flowSet({ way: 0, lastSeen: 49n }, { way: 3, lastSeen: 50n });
    expect([...decodeFlowSet(set, 50n)].map((flow) => flow.lastSeen)).toEqual([50n]);
    expect([...decodeFlowSet(new Uint8Array(FLOW_SET_SIZE))]).toEqual([]);
  });

  test('says what a sender was told last', () => {
    const [straight, wrapped, plain] = decodeFlowSet(
      flowSet(
        { way: 0, lastSeen: 1n, format: 3, action: 2 },
        { way: 1, lastSeen: 1n, format: 4, action: 1, throughEndCon: true, datagram: true },
        { way: 2, lastSeen: 1n, format: 2 },
      ),
    );
    const told = {
      atNs: 1234n,
      row: 3,
      level: 230,
      parameter: 50,
      sourceQpn: 0x64,
      queueBytes: 130_000_000,
      sourcePort: 0xc001,
      pkey: 0x8123,
    };
    expect(straight!.told).toEqual({ ...told, format: 'long-haul-icmpv6', action: 'rate-reduce', endCon: null });
    expect(wrapped!.told).toEqual({ ...told, format: 'long-haul-roce', action: 'pause', endCon: END_CON });
    expect(wrapped).toMatchObject({ destinationQpn: 0x123456, datagram: true, tunnel: END_CON });
    expect(plain!.told).toMatchObject({ format: 'fast-cnp', action: null });
  });
});
