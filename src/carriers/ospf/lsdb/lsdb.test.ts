// Which of two instances is newer (RFC 2328 §13.1), and what follows at the ends of age and sequence numbers.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { INITIAL_SEQUENCE, MAX_AGE, MAX_SEQUENCE } from '../../../packet/ospf/numbers.ts';
import { encodePacket } from '../../../packet/ospf/packet.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { type Instance, type Relation, compareInstances, put } from './lsdb.ts';
import { AREA, Link, Router, testConfig } from '../simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OspfVersion } from '../version.ts';

describe('which instance is newer', () => {
  const instance = (fields: Partial<Instance>): Instance => ({ sequence: 5, checksum: 0x1234, age: 10, ...fields });

  test.each<[string, Partial<Instance>, Partial<Instance>, Relation]>([
    [
      'the higher sequence number, whatever checksum and age',
      { sequence: 6, checksum: 1, age: MAX_AGE },
      { checksum: 0xffff, age: 0 },
      'newer',
    ],
    ['sequence numbers are signed', { sequence: 1 }, { sequence: INITIAL_SEQUENCE }, 'newer'],
    ['the highest of all', { sequence: MAX_SEQUENCE }, { sequence: MAX_SEQUENCE - 1 }, 'newer'],
    ['the higher checksum', { checksum: 0x1235, age: 3000 }, { age: 0 }, 'newer'],
    ['checksums are unsigned', { checksum: 0x8000 }, { checksum: 0x7fff }, 'newer'],
    ['MaxAge alone', { age: MAX_AGE }, { age: MAX_AGE - 1 }, 'newer'],
    ['both at MaxAge, one beyond', { age: MAX_AGE + 7 }, { age: MAX_AGE }, 'same'],
    ['ages that differ by MaxAgeDiff', { age: 0 }, { age: 900 }, 'same'],
    ['by more: the younger', { age: 0 }, { age: 901 }, 'newer'],
    ['by more, the other way round', { age: 1000 }, { age: 99 }, 'older'],
    ['DoNotAge does not count', { age: 0x8000 | 10 }, { age: 910 }, 'same'],
    ['DoNotAge does not count towards MaxAgeDiff', { age: 0x8000 | 9 }, { age: 910 }, 'newer'],
  ])('%s', (_how, a, b, relation) => {
    expect(compareInstances(instance(a), instance(b))).toBe(relation);
    const inverse = { newer: 'older', older: 'newer', same: 'same' } as const;
    expect(compareInstances(instance(b), instance(a))).toBe(inverse[relation]);
  });
});

describe.each<[string, OspfVersion]>([
  ['OSPFv2', OSPFV2],
  ['OSPFv3', OSPFV3],
])('%s', (_name, version) => {
  const B = 0x02020202;
  const type = version.version === 2 ? 10 : 0xa07b;

  function lsa(sequence: number, age: number): Lsa {
    const header = { age, options: 0, type, lsId: 0xf0000009, advertisingRouter: 0x03030303, sequence };
    const decoded = decodeLsa(
      version.version,
      encodeLsa(version.version, header, { kind: 'unknown', content: new Uint8Array(4) }),
    );
    if (!decoded.ok) throw new Error(decoded.error.detail);
    return decoded.value;
  }

  // RFC 2328 §13 step 8: the LSA wraps, and its flush must not be disturbed.
  test.each([
    [
      'at MaxAge with the highest sequence number: an older one is discarded without an answer',
      MAX_SEQUENCE,
      MAX_AGE,
      0,
    ],
    ['at MaxAge with another sequence number: an older one is answered', MAX_SEQUENCE - 1, MAX_AGE, 1],
    ['with the highest sequence number, alive: an older one is answered', MAX_SEQUENCE, 100, 1],
  ])('%s', (_what, sequence, age, answers) => {
    const a = new Router(testConfig(0x01010101, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.run(10_000);
    put(a.area.lsdb, lsa(sequence, age), false, link.now, true);
    const before = a.count('tx.link-state-update');
    const addresses = {
      source: address(version.version === 2 ? '10.0.0.2' : 'fe80::2'),
      destination: version.destination,
    };
    const update = { kind: 'link-state-update' as const, routerId: B, areaId: AREA, instanceId: 0, lsas: [lsa(7, 1)] };
    link.event(0, {
      type: 'received',
      areaId: AREA,
      payload: encodePacket(version.version, update, addresses),
      addresses,
    });
    link.run(0);
    expect(a.count('tx.link-state-update') - before).toBe(answers);
  });
});
