// How much fits a packet, to the byte, and the sequence numbers of authenticated ones.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import type { AuthenticationKey } from '../../packet/ospf/digest.ts';
import { decodeLsa, encodeLsa } from '../../packet/ospf/lsa.ts';
import { decodePacket } from '../../packet/ospf/packet.ts';
import type { Lsa } from '../../packet/ospf/types.ts';
import { sendHello } from './neighbor/interface.ts';
import { Router, testConfig } from './simulation.fixture.ts';
import { bodyCapacity, headersThatFit, sendUpdates } from './transmit.ts';
import { OSPFV2, OSPFV3, type OspfVersion } from './version.ts';

const SELF = 0x01010101;
const SOURCE = address('10.0.0.1');
const KEY: AuthenticationKey = { id: 1, algorithm: 'hmac-sha-256', secret: new Uint8Array(16).fill(7) };

function scene(version: OspfVersion, keys: readonly AuthenticationKey[] = []) {
  const { speaker: s, area } = new Router(testConfig(SELF, version, { keys }));
  area.link = { address: version === OSPFV2 ? SOURCE : address('fe80::1'), peer: undefined };
  return { s, area };
}

describe('what fits a datagram of 1500 bytes', () => {
  test.each([
    ['OSPFv2', OSPFV2, [], 1500 - 20 - 24],
    ['OSPFv2 with HMAC-SHA-256', OSPFV2, [KEY], 1500 - 20 - 24 - 32],
    ['OSPFv3', OSPFV3, [], 1500 - 40 - 16],
    ['OSPFv3 with HMAC-SHA-256 (RFC 7166 §4.1)', OSPFV3, [KEY], 1500 - 40 - 16 - 16 - 32],
  ])('%s', (_name, version, keys, bytes) => {
    const { s, area } = scene(version, keys);
    expect(bodyCapacity(s, area)).toBe(bytes);
  });

  test('headers of LSAs after what precedes them, one at least', () => {
    const { s, area } = scene(OSPFV2);
    expect([0, 12, 16, 17, 1456].map((fixed) => headersThatFit(s, area, fixed))).toEqual([72, 72, 72, 71, 1]);
    expect(headersThatFit(s, area, 0, 12)).toBe(121);
  });
});

describe('LSAs are sent', () => {
  const lsaOf = (lsId: number, length: number): Lsa => {
    const header = { age: 1, options: 0, type: 10, lsId, advertisingRouter: SELF, sequence: 5 };
    const lsa = decodeLsa(2, encodeLsa(2, header, { kind: 'unknown', content: new Uint8Array(length - 20) }));
    if (!lsa.ok) throw new Error(lsa.error.detail);
    return lsa.value;
  };
  /** How many LSAs are in each packet. */
  const packets = (...lengths: number[]): number[] => {
    const { s, area } = scene(OSPFV2);
    sendUpdates(
      s,
      area,
      lengths.map((length, n) => lsaOf(n, length)),
    );
    return s.effects.flatMap((effect) => {
      if (effect.type !== 'send') return [];
      const packet = decodePacket(2, effect.payload, { source: SOURCE, destination: effect.destination });
      return packet.ok && packet.value.kind === 'link-state-update' ? [packet.value.lsas.length] : [];
    });
  };
  /** Beside the number of LSAs. */
  const ROOM = 1456 - 4;

  test('together, when they fill the datagram to the last byte', () => {
    expect(packets(1000, ROOM - 1000)).toEqual([2]);
    expect(packets(1000, ROOM - 1000 + 4)).toEqual([1, 1]);
    expect(packets(1000, ROOM - 1000, 24, 24)).toEqual([2, 2]);
  });

  test('alone, when one is larger than a datagram', () => {
    expect(packets(2000)).toEqual([1]);
    expect(packets(24, 2000, 24)).toEqual([1, 1, 1]);
    expect(packets()).toEqual([]);
  });
});

describe('sequence numbers of authenticated packets', () => {
  const after = (version: OspfVersion, times: readonly number[], authenticationBase = 1000): bigint[] => {
    const { s, area } = scene(version, [KEY]);
    Object.assign(s.config, { authenticationBase });
    return times.map((now) => {
      s.now = now;
      sendHello(s, area);
      return s.authenticationSequence;
    });
  };

  test('OSPFv2: seconds since the base, the same within one (RFC 2328 §D.3)', () => {
    expect(after(OSPFV2, [0, 999, 1000, 5000])).toEqual([100n, 100n, 101n, 105n]);
  });

  test('OSPFv3: rise with each packet, and with the time (RFC 7166 §4.1)', () => {
    expect(after(OSPFV3, [0, 0, 99, 100, 5000])).toEqual([
      1_000_000_000n,
      1_000_000_001n,
      1_000_000_002n,
      1_001_000_000n,
      1_050_000_000n,
    ]);
  });
});
