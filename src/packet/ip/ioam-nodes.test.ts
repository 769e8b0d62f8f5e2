import { expect, test } from 'vitest';
import { fromHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { decodeTraceNodes } from './ioam-nodes.ts';
import { decodeTrace } from './ioam.ts';

const nodesOf = (hex: string, kind = 0) => {
  const trace = decodeTrace(kind, fromHex(hex));
  if (!trace.ok) throw new Error(trace.error.code);
  return decodeTraceNodes(trace.value);
};
/** What a Linux router writes of bits 0-3 and 6: identity, interfaces, POSIX time, backlog in bytes. */
const [LAST, FIRST] = [
  '3e000002' + '00010002' + '65000001' + '0000000a' + '0001e848',
  '3f000001' + '00030004' + '65000000' + '00000005' + '00000000',
];

test('FCNP-4-t: the nodes of a trace are read, the last one first, behind the free space of a pre-allocated one', () => {
  const nodes = [
    { hopLimit: 0x3e, nodeId: 2, ingress: 1, egress: 2, seconds: 0x65000001, fraction: 10, queueDepth: 125_000 },
    { hopLimit: 0x3f, nodeId: 1, ingress: 3, egress: 4, seconds: 0x65000000, fraction: 5, queueDepth: 0 },
  ];
  expect(nodesOf('0000' + '2805' + 'f20000' + '00' + '00'.repeat(20) + LAST + FIRST)).toEqual({
    ok: true,
    value: nodes,
  });
  expect(nodesOf('0000' + '2805' + 'f20000' + '00' + LAST + FIRST, 1)).toEqual({ ok: true, value: nodes });
  expect(nodesOf('0000' + '2805' + 'f20000' + '00' + '00'.repeat(20))).toEqual({ ok: true, value: [] });
});

test('every field is where RFC 9197 §4.4.2 has it, those of unknown bits are passed over', () => {
  const node = [
    ...['01000002', '00030004', '00000005', '00000006', '00000007', '00000008', '00000009', 'deadbeef'],
    ...['0a0000000000000b', '0000000c0000000d', '000000000000000e', '0000000f', 'ffffffff'],
  ];
  expect(nodesOf('0000' + '8000' + 'fff800' + '00' + node.join(''))).toEqual({
    ok: true,
    value: [
      {
        ...{ hopLimit: 10, nodeId: 11n, ingress: 12, egress: 13, seconds: 5, fraction: 6, transitDelay: 7 },
        ...{ namespaceData: 8, queueDepth: 9, namespaceDataWide: 14n, bufferOccupancy: 15 },
      },
    ],
  });
});

test('what a node does not know is not there', () => {
  const types = { f20000: [LAST.length / 2, 'ff'.repeat(20)], '00f000': [28, 'ff'.repeat(28)] } as const;
  for (const [type, [length, data]] of Object.entries(types))
    expect(nodesOf('0000' + ((length / 4) << 11).toString(16) + type + '00' + data)).toEqual({
      ok: true,
      value: [{ hopLimit: 255 }],
    });
});

test('a state of any length ends a node', () => {
  const header = '0000' + '0800' + '020002' + '00';
  expect(nodesOf(header + '00000001' + '01aaaaaabbbbbbbb' + '00000002' + '00cccccc')).toEqual({
    ok: true,
    value: [{ queueDepth: 1 }, { queueDepth: 2 }],
  });
  expect(nodesOf('0000' + '0000' + '000002' + '00' + '00cccccc')).toEqual({ ok: true, value: [{}] });
});

test('codes of what is malformed', () => {
  const code = (hex: string, kind = 0): string => {
    const nodes = nodesOf(hex, kind);
    return nodes.ok ? 'ok' : nodes.error.code;
  };
  expect([
    code('0000' + '1000' + '020000' + '00' + '00000001'),
    code('0000' + '0000' + '000000' + '00' + '00000001'),
    code('0000' + '0802' + '020000' + '00' + '00000001'),
    code('0000' + '0801' + '020000' + '00' + '00000001'),
    code('0000' + '1000' + '060000' + '00' + '000000010000000200000003'),
    code('0000' + '0800' + '020002' + '00' + '00000001' + '02aaaaaabbbbbbbb'),
    code('0000' + '0800' + '020002' + '00' + '00000001'),
  ]).toEqual([
    'bad-node-length',
    'bad-node-length',
    'bad-remaining-length',
    'ok',
    'truncated-node',
    'truncated-node',
    'truncated-node',
  ]);
});

test('no trace harms the decoder', () =>
  fuzzDecoder(
    (bytes) => {
      const trace = decodeTrace(0, bytes);
      return trace.ok ? decodeTraceNodes(trace.value) : trace;
    },
    [
      fromHex('0000' + '2805' + 'f20000' + '00' + '00'.repeat(20) + LAST + FIRST),
      fromHex('0000' + '0800' + '020002' + '00' + '0000000101aaaaaabbbbbbbb'),
    ],
    { runs: 500 },
  ));
