import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { concat, put16 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { refusesTruncation } from '../hostile.fixture.ts';
import { lspChecksum } from './checksum.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, parseLspId, parseSystemId } from './lsp-id.ts';
import { decodePdu, encodePdu } from './pdu.ts';
import type { Csnp, IsisPdu, LanHello, P2pHello, Psnp, ReceivedPdu } from './types.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

const SYSTEM = parseSystemId('0000.0000.c001')!;

function decoded(bytes: Uint8Array): ReceivedPdu {
  const result = decodePdu(bytes);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

/** Encodes to exactly these bytes, and decodes from them to exactly this value. */
function expectPdu(hex: string, pdu: Exclude<IsisPdu, LanHello>): void {
  expect(toHex(encodePdu(pdu))).toBe(toHex(fromHex(hex)));
  expect(decoded(fromHex(hex))).toEqual({ ...pdu, raw: fromHex(hex), badTlvs: [] });
}

const HELLO: P2pHello = {
  kind: 'p2p-hello',
  circuitType: 2,
  systemId: SYSTEM,
  holdingTime: 30,
  localCircuitId: 1,
  tlvs: [
    { kind: 'area-addresses', areas: [fromHex('490001')] },
    { kind: 'protocols-supported', nlpids: [0x8e] },
    { kind: 'ipv6-interface-addresses', addresses: [address('fe80::c1')] },
    { kind: 'three-way-adjacency', state: 'down', circuitId: 7 },
  ],
};
const HELLO_HEX =
  '83140100 11010000 02 00000000c001 001e 0036 01' +
  '010403490001' +
  '81018e' +
  'e810fe8000000000000000000000000000c1' +
  'f0050200000007';

test('a point-to-point hello, both ways', () => expectPdu(HELLO_HEX, HELLO));

test('PNC-5.1-b: an LSP that declares a proxy for sender prefixes, both ways', () => {
  const lsp = decoded(PROXY_LSP);
  expect(lsp).toMatchObject({
    kind: 'lsp',
    level: 2,
    remainingLifetime: 1200,
    lspId: parseLspId('0000.0000.0001.00-00'),
    sequence: 1,
    checksum: 0x7ea5,
    partitionRepair: false,
    attached: false,
    overload: false,
    isType: 3,
    badTlvs: [],
  });
  expect(lsp.kind === 'lsp' && lsp.tlvs.slice(6, 8)).toEqual([
    {
      kind: 'ipv4-reachability',
      prefixes: [
        {
          prefix: prefix('10.1.0.0/24'),
          metric: 10,
          down: false,
          external: false,
          subTlvs: [
            { kind: 'prefix-attribute-flags', flags: fromHex('01') },
            { kind: 'ipv4-source-router-id', address: address('192.0.2.1') },
          ],
        },
      ],
    },
    {
      kind: 'ipv6-reachability',
      prefixes: [
        {
          prefix: prefix('2001:db8:a::/64'),
          metric: 10,
          down: false,
          external: false,
          subTlvs: [
            { kind: 'prefix-attribute-flags', flags: fromHex('01') },
            { kind: 'ipv6-source-router-id', address: address('2001:db8::1') },
          ],
        },
      ],
    },
  ]);
  expect(toHex(encodePdu(lsp as Exclude<IsisPdu, LanHello>))).toBe(toHex(PROXY_LSP));
});

test('a CSNP and a PSNP, both ways', () => {
  const entries = [
    { remainingLifetime: 1200, lspId: parseLspId('0000.0000.0001.00-00')!, sequence: 1, checksum: 0x7ea5 },
  ];
  const entryHex = '0910 04b0 0000000000010000 00000001 7ea5';
  const csnp: Csnp = {
    kind: 'csnp',
    level: 2,
    systemId: SYSTEM,
    start: FIRST_LSP_ID,
    end: LAST_LSP_ID,
    tlvs: [{ kind: 'lsp-entries', entries }],
  };
  expectPdu(`83210100 19010000 0033 00000000c001 00 0000000000000000 ffffffffffffffff ${entryHex}`, csnp);
  const psnp: Psnp = { kind: 'psnp', level: 1, systemId: SYSTEM, tlvs: [{ kind: 'lsp-entries', entries }] };
  expectPdu(`83110100 1a010000 0023 00000000c001 00 ${entryHex}`, psnp);
});

test('LSP flags: any ATT bit means attached, P and OL are their own', () => {
  const flags = (byte: number): object => {
    const lsp = new Uint8Array(PROXY_LSP);
    lsp[26] = byte;
    put16(lsp, 24, lspChecksum(lsp));
    const { kind: _kind, ...rest } = decoded(lsp);
    return 'attached' in rest ? [rest.partitionRepair, rest.attached, rest.overload, rest.isType] : [];
  };
  expect(flags(0x83)).toEqual([true, false, false, 3]);
  for (const bit of [0x40, 0x20, 0x10, 0x08]) expect(flags(bit | 1)).toEqual([false, true, false, 1]);
  expect(flags(0x07)).toEqual([false, false, true, 3]);
});

test('a LAN hello is recognized and not taken apart', () => {
  const bytes = fromHex('831b0100 0f010000 01 00000000000a 001e 001d 40 00000000000a01 0800');
  expect(decoded(bytes)).toEqual({
    kind: 'lan-hello',
    level: 1,
    circuitType: 1,
    systemId: fromHex('00000000000a'),
    holdingTime: 30,
    raw: bytes,
    badTlvs: [],
  });
});

test('what follows PDU Length is Ethernet padding', () => {
  expect(toHex(decoded(concat(PROXY_LSP, fromHex('deadbeef'))).raw)).toBe(toHex(PROXY_LSP));
});

test('the received PDU is a copy: the buffer of the socket may be used again', () => {
  const buffer = Buffer.from(PROXY_LSP);
  const lsp = decoded(buffer);
  buffer.fill(0);
  expect(toHex(lsp.raw)).toBe(toHex(PROXY_LSP));
  expect(lsp.kind === 'lsp' && lsp.tlvs[2]).toEqual({ kind: 'hostname', name: 'proxy1' });
});

test('unknown TLVs survive decoding and encoding byte for byte', () => {
  const tlvs = [
    { kind: 'unknown' as const, type: 250, value: fromHex('0100017f') },
    { kind: 'hostname' as const, name: 'r' },
  ];
  const bytes = encodePdu({ ...HELLO, tlvs });
  expect(decoded(bytes)).toMatchObject({ tlvs, badTlvs: [] });
});

test('a bad TLV is recorded with its place in the PDU and skipped; the others are used; its bytes stay', () => {
  const bad = { kind: 'unknown' as const, type: 132, value: fromHex('c00002') };
  const bytes = encodePdu({ ...HELLO, tlvs: [bad, { kind: 'hostname', name: 'r' }] });
  const pdu = decoded(bytes);
  expect(pdu.badTlvs).toEqual([
    { type: 132, error: { code: 'bad-length', offset: 22, detail: '3 bytes are not whole IPv4 addresses' } },
  ]);
  expect(pdu.kind === 'p2p-hello' && pdu.tlvs).toEqual([bad, { kind: 'hostname', name: 'r' }]);
  expect(toHex(encodePdu(pdu as P2pHello))).toBe(toHex(bytes));
});

test('a bad PDU is rejected, under a code of its own', () => {
  const hello = encodePdu(HELLO);
  const code = (at: number, value: number, bytes = hello): string => {
    const broken = new Uint8Array(bytes);
    broken[at] = value;
    const result = decodePdu(broken);
    return result.ok ? 'ok' : result.error.code;
  };
  expect(code(0, 0x82)).toBe('not-isis');
  expect(code(1, 27)).toBe('bad-header-length');
  expect(code(2, 2)).toBe('bad-version');
  expect(code(3, 8)).toBe('bad-id-length');
  expect(code(3, 6)).toBe('ok');
  expect(code(4, 19)).toBe('unknown-pdu-type');
  expect(code(5, 0)).toBe('bad-version');
  expect(code(7, 4)).toBe('bad-max-areas');
  expect(code(8, 0xfc)).toBe('bad-circuit-type');
  expect(code(16, 0)).toBe('bad-holding-time');
  expect(code(18, 19)).toBe('bad-pdu-length');
  expect(code(17, 1)).toBe('truncated');
  expect(code(21, 200)).toBe('tlv-overrun');
  expect(code(40, 0, PROXY_LSP)).toBe('bad-checksum');
  expect(code(24, 0, PROXY_LSP)).toBe('bad-checksum');
});

test.each<[string, (lsp: Uint8Array) => void]>([
  ['zero-checksum', (lsp) => lsp.fill(0, 24, 26)],
  ['zero-sequence', (lsp) => (lsp.fill(0, 20, 24), put16(lsp, 24, lspChecksum(lsp)))],
  ['tlv-overrun', (lsp) => ((lsp[28] = 255), put16(lsp, 24, lspChecksum(lsp)))],
])('an LSP with %s is one, without content (ISO/IEC 10589 §7.3.15)', (code, spoil) => {
  const bytes = new Uint8Array(PROXY_LSP);
  spoil(bytes);
  const decoded = decodePdu(bytes);
  expect(decoded.ok && decoded.value).toMatchObject({
    kind: 'lsp',
    unusable: { code },
    tlvs: [],
    badTlvs: [],
    raw: bytes,
  });
});

test('the checksum of a purge says nothing', () => {
  const purge = new Uint8Array(PROXY_LSP);
  purge.fill(0, 10, 12);
  purge.fill(0, 24, 26);
  expect(decoded(purge)).toMatchObject({ kind: 'lsp', remainingLifetime: 0, checksum: 0 });
  expect(decoded(purge)).not.toHaveProperty('unusable');
});

test('a PDU cut anywhere is rejected', () => {
  refusesTruncation(decodePdu, PROXY_LSP);
  refusesTruncation(decodePdu, encodePdu(HELLO));
});

test('a field that does not fit is refused when encoding', () => {
  expect(() => encodePdu({ ...HELLO, holdingTime: 65536 })).toThrow(/16 bits/);
  expect(() => encodePdu({ ...HELLO, systemId: new Uint8Array(5) })).toThrow(/5 bytes, not 6/);
  const tlvs = Array.from({ length: 256 }, () => ({ kind: 'padding' as const, length: 255 }));
  expect(() => encodePdu({ ...HELLO, tlvs })).toThrow(/65812 bytes/);
});
