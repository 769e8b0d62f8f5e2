// What is flushed, beside an ospfd: it keeps flushed LSAs for a minute (`ospf maxage-delay`), takes nothing older
// meanwhile, and does not tell the acknowledgement of a flush from that of what was flushed.
import { expect, test } from 'vitest';
import { INITIAL_SEQUENCE } from '../../../packet/ospf/numbers.ts';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import { type AnyVersion, ContentAgent, contentConfig, declaration } from '../content.fixture.ts';
import { AREA, FAIR, Link, Router, testConfig } from '../simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OwnLsa } from '../version.ts';

const A = 0x01010101;
const B = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];

function lsaFor(version: AnyVersion): OwnLsa {
  const agent = new ContentAgent(contentConfig(version, A, [AREA]));
  agent.event({ type: 'declare', origination: declaration(version, [1]) });
  return agent.advertised.get(AREA)![0]!;
}

function pair(version: AnyVersion) {
  const core = version === 2 ? OSPFV2 : OSPFV3;
  const [a, b] = [new Router(testConfig(A, core)), new Router(testConfig(B, core))];
  const lsa = lsaFor(version);
  return { a, b, link: new Link(a, b), lsa, key: lsaKeyText({ ...lsa, advertisingRouter: A }) };
}

test.each(VERSIONS)(
  'OSPFv%d: an LSA that was flushed and forgotten goes on with the next sequence number',
  (version) => {
    const { a, b, link, lsa, key } = pair(version);
    link.event(0, { type: 'originate', areaId: AREA, lsas: [lsa] });
    link.until('heard', () => b.notified.has(key));
    link.event(0, { type: 'originate', areaId: AREA, lsas: [] });
    link.until('forgotten', () => !a.area.lsdb.byKey.has(key) && !b.area.lsdb.byKey.has(key));
    link.event(0, { type: 'originate', areaId: AREA, lsas: [lsa] });
    link.until('heard again', () => b.notified.has(key));
    expect(b.area.lsdb.byKey.get(key)!.sequence).toBe(INITIAL_SEQUENCE + 1);
  },
);

test.each(VERSIONS)('OSPFv%d: so does one of an earlier run that this run has flushed', (version) => {
  const { a, b, link, lsa, key } = pair(version);
  link.event(0, { type: 'originate', areaId: AREA, lsas: [lsa] });
  link.until('heard', () => b.notified.has(key) && a.state === 'full');
  const again = link.restart(0);
  link.event(0, { type: 'originate', areaId: AREA, lsas: [] });
  link.until(
    'forgotten',
    () => again.state === 'full' && !again.area.lsdb.byKey.has(key) && !b.area.lsdb.byKey.has(key),
  );
  link.event(0, { type: 'originate', areaId: AREA, lsas: [lsa] });
  link.until('heard again', () => b.notified.has(key));
  expect(b.area.lsdb.byKey.get(key)!.sequence).toBe(INITIAL_SEQUENCE + 1);
});

test.each(VERSIONS)('OSPFv%d: a flush is taken within MinLSArrival of what it flushes', (version) => {
  const { a, b, link, lsa, key } = pair(version);
  link.until('full', () => a.state === 'full' && b.state === 'full');
  link.run(5000);
  link.event(0, { type: 'originate', areaId: AREA, lsas: [lsa] });
  link.until('heard', () => b.notified.has(key));
  link.event(0, { type: 'originate', areaId: AREA, lsas: [] });
  link.run(100);
  expect(b.notified.has(key)).toBe(false);
  expect(b.count('lsa.too-soon')).toBe(0);
});

test.each(VERSIONS)('OSPFv%d: a stop sends again within its limit also what was being flushed before it', (version) => {
  const { a, b, link, lsa, key } = pair(version);
  link.event(0, { type: 'originate', areaId: AREA, lsas: [lsa] });
  link.until('heard', () => a.state === 'full' && b.notified.has(key));
  link.run(10_000);
  link.weather = (packet) => (packet?.kind === 'link-state-update' ? [] : [1]);
  link.event(0, { type: 'originate', areaId: AREA, lsas: [] });
  link.run(100);
  expect(a.count('own.withdrawn')).toBe(1);
  link.event(0, { type: 'stop' });
  link.run(500);
  link.weather = FAIR;
  link.run(3500);
  expect({ stopped: a.stopped, notifiedSize: b.notified.size }).toEqual({ stopped: true, notifiedSize: 0 });
});
