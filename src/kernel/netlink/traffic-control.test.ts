// Qdiscs, classes, addresses and routes against what a Linux 6.18 kernel sent for objects made by tc and ip.
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../model/address.ts';
import { decodeAddress, decodeRoute, encodeAddress, encodeRoute } from './address.ts';
import { decodeLink, encodeVeth } from './link.ts';
import { type NetlinkMessage, decodeMessages } from './message.ts';
import { decodeHtbClass, decodeQdisc, encodeTbf } from './traffic-control.ts';

const message = (digits: string): NetlinkMessage =>
  decodeMessages(Uint8Array.from(Buffer.from(digits, 'hex'))).messages[0]!;
const digits = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const NO_STATS = { bytes: 0n, packets: 0, backlogBytes: 0, backlogPackets: 0, drops: 0, overlimits: 0 };

describe('what the kernel sends', () => {
  test('tc qdisc add … handle 5: tbf rate 200mbit burst 16kb limit 300000', () => {
    const tbf = decodeQdisc(
      message(
        'bc000000240002000200000000000000000000000300000000000500ffffffff0300000008000100746266002c000200' +
          '28000100000100000000000040787d01000000000000000000000000e0930400002800000000000005000c0000000000' +
          '300007001400010000000000000000000000000000000000180003000000000000000000000000000000000000000000' +
          '2c00030000000000000000000000000000000000000000000000000000000000000000000000000000000000',
      ),
    );
    expect(tbf).toEqual({
      ifindex: 3,
      kind: 'tbf',
      handle: 0x50000,
      parent: 0xffff_ffff,
      stats: NO_STATS,
      tbf: { rate: 25_000_000n, limit: 300_000, burst: 16_384 },
      htb: undefined,
    });
  });

  test('tc qdisc add … handle 1: htb default 10', () => {
    const htb = decodeQdisc(
      message(
        'b4000000240002000200000000000000000000000200000000000100ffffffff03000000080001006874620024000200' +
          '18000200110003000a00000010000000000000000000000008000500e803000005000c00000000003000070014000100' +
          '000000000000000000000000000000001800030000000000000000000000000000000000000000002c00030000000000' +
          '000000000000000000000000000000000000000000000000000000000000000000000000',
      ),
    );
    expect(htb).toEqual({
      ifindex: 2,
      kind: 'htb',
      handle: 0x10000,
      parent: 0xffff_ffff,
      stats: NO_STATS,
      tbf: undefined,
      htb: { defaultClass: 0x10 },
    });
  });

  test('tc class add … classid 1:10 htb rate 8mbit ceil 16mbit', () => {
    const htb = decodeHtbClass(
      message(
        'ec000000280002000300000000000000000000000200000010000100ffffffff00000000080001006874620034000200' +
          '30000100000100000000000040420f00000100000000000080841e00a8610000d4300000a08601000000000000000000' +
          '480007001400010000000000000000000000000000000000180003000000000000000000000000000000000000000000' +
          '18000400000000000000000000000000a8610000d43000002c0003000000000000000000000000000000000000000000' +
          '000000000000000000000000000000000000000018000400000000000000000000000000a8610000d4300000',
      ),
    );
    expect(htb).toEqual({
      ifindex: 2,
      handle: 0x10010,
      parent: 0xffff_ffff,
      rate: 1_000_000n,
      ceil: 2_000_000n,
      stats: NO_STATS,
    });
  });

  test('an address that is usable at once, and the answer to a route lookup', () => {
    const own = decodeAddress(
      message(
        '480000001400020004000000000000000a408200030000001400010020010db800000000000000000000000114000600' +
          'ffffffffffffffffb8a00400b8a004000800080082000000',
      ),
    )!;
    expect({
      address: formatAddress(own.address),
      ownLength: own.length,
      ifindex: own.ifindex,
      scope: own.scope,
      tentative: own.tentative,
      duplicate: own.duplicate,
    }).toEqual({ address: '2001:db8::1', ownLength: 64, ifindex: 3, scope: 0, tentative: false, duplicate: false });
    const route = decodeRoute(
      message(
        '9c0000001800000005000000000000000a808000fe0200010000000008000f00fe0000001400010020010db800000000' +
          '0000000000000002140002000000000000000000000000000000000014000700' +
          '20010db80000000000000000000000010800060000010000080004000300000024000c00020000000000000000000000' +
          '00000000000000000000000000000000000000000500140000000000',
      ),
    )!;
    expect({
      address: formatAddress(route.destination.address),
      destinationLength: route.destination.length,
      ifindex: route.ifindex,
      source: formatAddress(route.source!),
      gateway: route.gateway,
      table: route.table,
      metric: route.metric,
      protocol: route.protocol,
    }).toEqual({
      address: '2001:db8::2',
      destinationLength: 128,
      ifindex: 3,
      source: '2001:db8::1',
      gateway: undefined,
      table: 254,
      metric: 256,
      protocol: 2,
    });
  });

  test('a truncated interface: fields that are there are decoded, the others have defaults', () => {
    const body =
      '00000100030000000310000000000000' +
      '09000300657468320000000005001000030000000800' +
      '0400dc0500000a0001006ae273b970200000' +
      '080006007462660000';
    const link = decodeLink({ type: 16, flags: 0, sequence: 1, body: Uint8Array.from(Buffer.from(body, 'hex')) })!;
    expect({
      ifindex: link.ifindex,
      name: link.name,
      up: link.up,
      running: link.running,
      operState: link.operState,
      mtu: link.mtu,
      digits: digits(link.mac),
      kind: link.kind,
    }).toEqual({
      ifindex: 3,
      name: 'eth2',
      up: true,
      running: false,
      operState: 'lowerlayerdown',
      mtu: 1500,
      digits: '6ae273b97020',
      kind: undefined,
    });
  });
});

describe('what we send', () => {
  test('a veth: name and MTU of both ends, the peer born in a namespace', () => {
    expect(digits(encodeVeth({ name: 'a', mtu: 1500 }, { name: 'b', netnsFd: 9 }))).toBe(
      '00000000000000000000000000000000' +
        '0600030061000000' +
        '08000400dc050000' +
        '38001280' +
        '0900010076657468' +
        '00000000' +
        '28000280' +
        '24000100' +
        '00000000000000000000000000000000' +
        '0600030062000000' +
        '08001c0009000000'.slice(0, 16),
    );
  });

  test('a TBF of 1 Gbit/s and one of 100 Gbit/s, whose rate needs 64 bits', () => {
    const slow = digits(encodeTbf({ ifindex: 3, rate: 125_000_000n, burst: 20_000, limit: 500_000 }));
    expect(slow).toContain('0001000000000000' + '40597307');
    const fast = digits(encodeTbf({ ifindex: 3, rate: 12_500_000_000n, burst: 20_000, limit: 500_000 }));
    expect(fast).toContain('0c000400' + '00dd0ee902000000');
    expect(() => encodeTbf({ ifindex: 3, rate: 0n, burst: 1, limit: 1 })).toThrow(RangeError);
  });

  test('addresses and routes of both families', () => {
    expect(digits(encodeAddress(3, address('192.0.2.1'), 24))).toBe(
      '0218000003000000' + '08000200c0000201' + '08000100c0000201',
    );
    expect(digits(encodeAddress(3, address('2001:db8::1'), 64, { nodad: true }))).toMatch(
      /^0a40000003000000.*0800080002000000$/,
    );
    const route = encodeRoute({
      destination: { address: address('2001:db8::'), length: 32 },
      ifindex: 3,
      protocol: 210,
      metric: 5,
    });
    expect(digits(route)).toBe(
      '0a200000fed20001' +
        '00000000' +
        '1400010020010db8000000000000000000000000' +
        '08000f00fe000000' +
        '0800040003000000' +
        '0800060005000000',
    );
  });
});
