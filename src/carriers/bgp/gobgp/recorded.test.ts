// Messages that real gobgpds of both versions have sent (recording.fixture.ts).
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Recording, meaning } from './recording.fixture.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';

const NHC = '0002011020010db8000000000000000000000009ffdc0004c0000201';
const recording = (name: string): Recording =>
  JSON.parse(readFileSync(new URL(`recorded-${name}.json`, import.meta.url), 'utf8')) as Recording;

/** cnpd's own path is the shorter one, and lies beside the neighbor's. */
const OWN = `10.2.0.0/16 from here identifier 1668182116 via 192.0.2.9 as-path [] med 0 best nhc ${NHC}`;
const NEIGHBORS =
  '10.2.0.0/16 from 127.0.0.2 identifier 0 via 192.0.2.7 as-path [sequence 65010 set 65020,65021] med 50';
const changed = (more: string): string =>
  `2001:db8:1::/64 from 127.0.0.2 identifier 0 via 2001:db8::a as-path [] med 0${more} nhc ${NHC}`;

describe.each([
  ['v3', v3],
  ['v4', v4],
] as const)('a recorded gobgpd %s', (name, api) => {
  const means = meaning(api, recording(name));
  test('reports its AS and router ID', () =>
    expect(means.about).toEqual({ as: 65001, routerId: '127.0.0.1', multipath: false }));
  test('PNC-5.4-a: lists the paths of both families, the best first, attribute 39 as it came', () =>
    expect(means.list).toEqual([[OWN, NEIGHBORS], [changed(' best')]]));
  test('reports its neighbor', () =>
    expect(means.peers).toEqual([
      {
        address: '127.0.0.2',
        as: 65001,
        state: 'established',
        families: ['ipv4-unicast', 'ipv6-unicast'],
        received: 2,
        advertised: 1,
      },
    ]));
  test('begins to watch with its neighbors, then reports changes and withdrawals', () => {
    expect(means.watch).toEqual([
      'peer',
      'watching',
      [changed('')],
      ['2001:db8:1::/64 from 127.0.0.2 identifier 0 withdrawn'],
    ]);
  });
});
