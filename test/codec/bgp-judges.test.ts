// What tshark and scapy make of the attribute that we encode, in a whole UPDATE, and what we read of scapy's. Neither
// knows type 39 by name: they judge its frame and that everything around it stays readable, and hand its value on
// unread.
import { expect, test } from 'vitest';
import { address, addressBytes } from '../../src/model/address.ts';
import { type Prefix, prefix } from '../../src/model/prefix.ts';
import { concat, copyOf, prefixBytes, put16 } from '../../src/packet/bytes.ts';
import { decodeNhc, encodeNhc } from '../../src/packet/bgp/nhc.ts';
import {
  ATTRIBUTE_FLAG,
  NHC_TYPE,
  OPTIONAL_TRANSITIVE,
  type PathAttribute,
  decodePathAttributes,
  encodePathAttribute,
} from '../../src/packet/bgp/path-attribute.ts';
import { privateCharacteristic } from '../../src/packet/bgp/characteristics.ts';
import { CODES, NHC_V4, NHC_V4_ATTRIBUTE, NHC_V6 } from '../../src/packet/bgp/vectors.fixture.ts';
import { fromHex, toHex } from '../../src/packet/hex.ts';
import { encodeIpv4 } from '../../src/packet/ip/ipv4.ts';
import { scapy } from '../support/scapy.ts';
import { dissect } from '../support/tshark.ts';

const TRANSITIVE = 0x40;
const OPTIONAL = 0x80;
const BGP_PORT = 179;
const ORIGIN: PathAttribute = { flags: TRANSITIVE, type: 1, value: Uint8Array.of(0) };
const EMPTY_AS_PATH: PathAttribute = { flags: TRANSITIVE, type: 2, value: new Uint8Array() };
const NEXT_HOP: PathAttribute = { flags: TRANSITIVE, type: 3, value: addressBytes(NHC_V4.nextHop) };
const MED: PathAttribute = { flags: OPTIONAL, type: 4, value: Uint8Array.of(0, 0, 0, 7) };

const nlri = (p: Prefix): Uint8Array =>
  concat(Uint8Array.of(p.length), copyOf(addressBytes(p.address), 0, prefixBytes(p.length)));
const mpReach: PathAttribute = {
  flags: OPTIONAL,
  type: 14,
  value: concat(fromHex('0002 01 10'), addressBytes(NHC_V6.nextHop), Uint8Array.of(0), nlri(prefix('2001:db8:5::/48'))),
};

/** RFC 4271 §4.3. */
function update(attributes: readonly PathAttribute[], prefixes: readonly Prefix[]): Uint8Array {
  const list = concat(...attributes.map(encodePathAttribute));
  const body = concat(new Uint8Array(4), list, ...prefixes.map(nlri));
  put16(body, 2, list.length);
  const header = new Uint8Array(19).fill(0xff, 0, 16);
  put16(header, 16, header.length + body.length);
  header[18] = 2;
  return concat(header, body);
}

/** In one TCP segment, each on a connection of its own. */
function inTcp(message: Uint8Array, connection: number): Uint8Array {
  const tcp = new Uint8Array(20);
  put16(tcp, 0, 33333 + connection);
  put16(tcp, 2, BGP_PORT);
  tcp.set([0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 0xff, 0xff], 4);
  const addresses = { source: address('192.0.2.9'), destination: address('192.0.2.10') };
  return concat(
    encodeIpv4({ ...addresses, payloadLength: tcp.length + message.length, trafficClass: 0, hopLimit: 1, protocol: 6 }),
    tcp,
    message,
  );
}

const SID = {
  tlv: 'sid',
  sid: address('2001:db8:c::1'),
  locator: prefix('2001:db8:c::/48'),
  behavior: 0x8002,
} as const;
const nhc = (value: Uint8Array, flags: number = OPTIONAL_TRANSITIVE): PathAttribute => ({
  flags,
  type: NHC_TYPE,
  value,
});
const long = encodeNhc({
  ...NHC_V6,
  characteristics: [...NHC_V6.characteristics, privateCharacteristic(CODES.private, new Array(12).fill(SID))],
});
const UPDATES: readonly (readonly [string, readonly PathAttribute[], readonly Prefix[]])[] = [
  [
    'IPv4',
    [ORIGIN, EMPTY_AS_PATH, NEXT_HOP, MED, nhc(encodeNhc(NHC_V4))],
    [prefix('10.1.0.0/16'), prefix('10.2.3.4/32')],
  ],
  ['IPv6', [ORIGIN, EMPTY_AS_PATH, MED, mpReach, nhc(encodeNhc(NHC_V6))], []],
  [
    'extended length',
    [ORIGIN, EMPTY_AS_PATH, MED, mpReach, nhc(encodeNhc(NHC_V6), OPTIONAL_TRANSITIVE | ATTRIBUTE_FLAG.extendedLength)],
    [],
  ],
  ['longer than 255', [ORIGIN, EMPTY_AS_PATH, MED, mpReach, nhc(long)], []],
];

test('PNC-5.4-a: tshark reads the UPDATE around the attribute, and the attribute as optional, transitive, type 39', () => {
  const packets = UPDATES.map(([, attributes, prefixes], i) => inTcp(update(attributes, prefixes), i));
  const path = 'bgp.update.path_attribute';
  const records = dissect('raw-ip', packets, [
    'bgp.length',
    'bgp.nlri_prefix',
    `${path}.type_code`,
    `${path}.flags`,
    `${path}.length`,
    `${path}.mp_reach_nlri.next_hop.ipv6`,
    `${path}.multi_exit_disc`,
  ]);
  for (const [i, [name, attributes, prefixes]] of UPDATES.entries()) {
    const record = records[i]!;
    expect(record['bgp.length'], name).toEqual([String(update(attributes, prefixes).length)]);
    expect(record[`${path}.type_code`], name).toEqual(attributes.map(({ type }) => String(type)));
    expect(record[`${path}.length`], name).toEqual(attributes.map(({ value }) => String(value.length)));
    expect(record[`${path}.multi_exit_disc`], name).toEqual(['7']);
    expect(
      record.complaints.filter((complaint) => /malformed|length|truncat/i.test(complaint)),
      name,
    ).toEqual([]);
  }
  const flags = records.map((record) => record[`${path}.flags`].at(-1));
  expect(flags).toEqual(['0xc0', '0xc0', '0xd0', '0xd0']);
  expect(records[0]!['bgp.nlri_prefix']).toEqual(['10.1.0.0', '10.2.3.4']);
  expect(records[1]![`${path}.mp_reach_nlri.next_hop.ipv6`]).toEqual(['2001:db8::9']);
});

test('scapy reads the same attributes, and builds the same bytes from them', () => {
  const theirs = scapy<{ list: (readonly [number, number, string])[]; rebuilt: string }[]>(
    `import io, contextlib
with contextlib.redirect_stderr(io.StringIO()):
    from scapy.contrib.bgp import *
from scapy.packet import Raw
def read(h):
    update = BGPHeader(bytes.fromhex(h))[BGPUpdate]
    own = [a for a in update.path_attr if a.type_code == 39]
    rebuilt = [bytes(BGPPathAttr(type_flags=int(a.type_flags), type_code=39, attribute=Raw(bytes(a.attribute)))).hex() for a in own]
    return {"list": [[int(a.type_flags), a.type_code, bytes(a.attribute or b"").hex()] for a in update.path_attr], "rebuilt": rebuilt[0]}
result = [read(h) for h in data]`,
    UPDATES.map(([, attributes, prefixes]) => toHex(update(attributes, prefixes))),
  );
  for (const [i, [name, attributes]] of UPDATES.entries()) {
    const ours = decodePathAttributes(concat(...attributes.map(encodePathAttribute)));
    if (!ours.ok) throw new Error(ours.error.detail);
    expect(
      theirs[i]!.list.map(([flags, type]) => [flags, type]),
      name,
    ).toEqual(ours.value.map(({ flags, type }) => [flags, type]));
    expect(theirs[i]!.list.at(-1)![2], name).toBe(toHex(attributes.at(-1)!.value));
    expect(theirs[i]!.rebuilt, name).toBe(toHex(encodePathAttribute(attributes.at(-1)!)));
  }
});

test('we read what scapy builds, with the Partial bit of a speaker that does not know the attribute', () => {
  const built = scapy<string[]>(
    `import io, contextlib
with contextlib.redirect_stderr(io.StringIO()):
    from scapy.contrib.bgp import *
from scapy.packet import Raw
value = bytes.fromhex(data)
result = [bytes(BGPPathAttr(type_flags=flags, type_code=39, attribute=Raw(value))).hex() for flags in (0xC0, 0xE0, 0xD0, 0xF0)]`,
    toHex(NHC_V4_ATTRIBUTE.subarray(3)),
  );
  for (const [i, flags] of [0xc0, 0xe0, 0xd0, 0xf0].entries()) {
    const decoded = decodePathAttributes(fromHex(built[i]!));
    if (!decoded.ok) throw new Error(decoded.error.detail);
    expect(decoded.value).toEqual([{ flags, type: NHC_TYPE, value: NHC_V4_ATTRIBUTE.subarray(3) }]);
    expect(decodeNhc(decoded.value[0]!.value)).toEqual({ ok: true, value: NHC_V4 });
  }
});
