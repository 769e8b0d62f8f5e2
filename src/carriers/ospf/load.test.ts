// Large databases: no turn of the speaker may keep the event loop from others for long. What a turn does is counted in
// effects; how long it takes is the bench's business.
import { expect, test } from 'vitest';
import { AREA, Link, Router, testConfig } from './simulation.fixture.ts';
import { OSPFV3, type OwnLsa } from './version.ts';

/** As many LSAs as an area of thousands of routers has. */
const LSAS = 20_000;
/** Measured: 83 at most, of some 200,000. */
const LIMIT = 128;

const lsas = (size: number): OwnLsa[] =>
  Array.from({ length: LSAS }, (_, n) => ({
    type: 0xa023,
    lsId: n,
    body: { kind: 'unknown', content: new Uint8Array(size) },
  }));

test('20,000 LSAs: exchange, a change of every one, refresh: every turn has little to do', () => {
  const a = new Router(testConfig(0x01010101, OSPFV3));
  const b = new Router(testConfig(0x02020202, OSPFV3));
  const link = new Link(a, b);
  const turns: Record<string, number> = {};
  const turn = (what: string): void => {
    turns[what] = link.mostEffects;
    link.mostEffects = 0;
  };
  link.weather = () => [];
  link.event(0, { type: 'originate', areaId: AREA, lsas: lsas(40) });
  link.run(3000);
  turn('issue');
  link.weather = () => [1];
  link.until('full', () => a.state === 'full' && b.state === 'full' && b.notified.size >= LSAS);
  turn('exchange');
  link.run(20_000);
  link.event(0, { type: 'originate', areaId: AREA, lsas: lsas(44) });
  link.run(60_000);
  turn('change');
  link.run(2_000_000);
  turn('refresh');
  expect(b.count('lsa.expired')).toBe(0);
  expect([...b.notified.values()].filter((content) => content.length === 88)).toHaveLength(LSAS);
  for (const [what, effects] of Object.entries(turns)) expect(effects, what).toBeLessThan(LIMIT);
});
