import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { FLOW_FIELDS, FLOW_SET_SIZE, FLOW_WAYS, decodeFlowSet } from './flows.ts';
import { LITTLE_ENDIAN, mappedAddress, structure } from './layout.ts';

const SET_HEADER = FLOW_SET_SIZE - FLOW_WAYS * FLOW_FIELDS.size;
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
      const at = SET_HEADER + way * FLOW_FIELDS.size;
      const u32 = (field: number, value: number): void => view.setUint32(at + field, value, LITTLE_ENDIAN);
      const u64 = (field: number, value: bigint): void => view.setBigUint64(at + field, value, LITTLE_ENDIAN);
      bytes.set(mappedAddress(SOURCE), at + FLOW_FIELDS.source);
      bytes.set(mappedAddress(DESTINATION), at + FLOW_FIELDS.destination);
      if (throughEndCon) bytes.set(mappedAddress(END_CON), at + FLOW_FIELDS.tunnel);
      u32(FLOW_FIELDS.qpn, datagram ? 0x8012_3456 : 0x123456);
      u32(FLOW_FIELDS.tag, 99);
      u64(FLOW_FIELDS.packets, 10n);
      u64(FLOW_FIELDS.bytes, 20n);
      u64(FLOW_FIELDS.congestedBytes, 30n);
      u64(FLOW_FIELDS.firstSeen, 40n);
      u64(FLOW_FIELDS.lastSeen, lastSeen);
      u64(FLOW_FIELDS.notices, 70n);
      u32(FLOW_FIELDS.lastPsn, 5);
      u32(FLOW_FIELDS.ifindex, 7);
      if (format === 0) continue;
      u64(FLOW_FIELDS.notifiedAt, 1234n);
      u32(FLOW_FIELDS.notifiedSourceQpn, 0x64);
      u32(FLOW_FIELDS.notifiedDepth, 130_000_000);
      bytes[at + FLOW_FIELDS.notifiedFormat] = format;
      bytes[at + FLOW_FIELDS.notifiedRow] = 3;
      bytes[at + FLOW_FIELDS.notifiedAction] = action;
      bytes[at + FLOW_FIELDS.notifiedLevel] = 230;
      view.setUint16(at + FLOW_FIELDS.notifiedParameter, 50, LITTLE_ENDIAN);
      view.setUint16(at + FLOW_FIELDS.notifiedPkey, 0x8123); // in network order
      view.setUint16(at + FLOW_FIELDS.notifiedSourcePort, 0xc001);
    }
  });
}

describe('a set of the flow table', () => {
  test('yields its flows, with the counts of each', () => {
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
      lastNotification: null,
    });
  });

  test('leaves out aged flows and free ways', () => {
    const set = flowSet({ way: 0, lastSeen: 49n }, { way: 3, lastSeen: 50n });
    expect([...decodeFlowSet(set, 50n)].map((flow) => flow.lastSeen)).toEqual([50n]);
    expect([...decodeFlowSet(new Uint8Array(FLOW_SET_SIZE))]).toEqual([]);
  });

  test('reads the last notification to a sender', () => {
    const [straight, wrapped, plain] = decodeFlowSet(
      flowSet(
        { way: 0, lastSeen: 1n, format: 3, action: 2 },
        { way: 1, lastSeen: 1n, format: 4, action: 1, throughEndCon: true, datagram: true },
        { way: 2, lastSeen: 1n, format: 2 },
      ),
    );
    const common = {
      atNs: 1234n,
      row: 3,
      level: 230,
      parameter: 50,
      sourceQpn: 0x64,
      queueBytes: 130_000_000,
      sourcePort: 0xc001,
      pkey: 0x8123,
    };
    expect(straight!.lastNotification).toEqual({
      ...common,
      format: 'long-haul-icmpv6',
      action: 'rate-reduce',
      endCon: null,
    });
    expect(wrapped!.lastNotification).toEqual({
      ...common,
      format: 'long-haul-roce',
      action: 'pause',
      endCon: END_CON,
    });
    expect(wrapped).toMatchObject({ destinationQpn: 0x123456, datagram: true, tunnel: END_CON });
    expect(plain!.lastNotification).toMatchObject({ format: 'fast-cnp', action: null });
  });
});
