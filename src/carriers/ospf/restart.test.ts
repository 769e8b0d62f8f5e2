// A killed agent that starts again with something else to say: what the network holds of it has the sequence number
// with which the new run begins.
import { expect, test } from 'vitest';
import { INITIAL_SEQUENCE } from '../../packet/ospf/numbers.ts';
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import { type AnyVersion, ContentAgent, contentConfig, declaration } from './content.fixture.ts';
import { AREA, FAIR, Link, Router, areaConfig, testConfig } from './simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OwnLsa } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];

function lsasFor(version: AnyVersion, prefixes: readonly number[]): readonly OwnLsa[] {
  const agent = new ContentAgent(contentConfig(version, A, [AREA]));
  agent.event({ type: 'declare', origination: declaration(version, prefixes) });
  return agent.advertised.get(AREA)!;
}

function pair(version: AnyVersion) {
  const core = version === 2 ? OSPFV2 : OSPFV3;
  const [a, b] = [new Router(testConfig(A, core)), new Router(testConfig(B, core))];
  return { core, a, b, link: new Link(a, b) };
}

test.each(VERSIONS)(
  'OSPFv%d: whichever checksum is higher, the new run outbids the old one with the next sequence number',
  (version) => {
    for (let n = 0; n < 12; n++) {
      const { a, b, link } = pair(version);
      link.event(0, { type: 'originate', areaId: AREA, lsas: lsasFor(version, [n, n + 1]) });
      link.until('full', () => a.state === 'full' && b.state === 'full');
      link.run(10_000);
      // It has issued its LSA before it hears of the old one.
      link.weather = () => [];
      const again = link.restart(0);
      const [desired] = lsasFor(version, [n + 1]);
      link.event(0, { type: 'originate', areaId: AREA, lsas: [desired!] });
      link.run(100);
      expect(again.count('own.issued')).toBe(1);
      link.weather = FAIR;
      link.until('full again', () => again.state === 'full');
      link.run(10_000);
      const at = b.area.lsdb.byKey.get(lsaKeyText({ ...desired!, advertisingRouter: A }))!;
      expect(at.sequence).toBe(INITIAL_SEQUENCE + 1);
      expect(at.raw).toEqual(again.area.lsdb.byKey.get(at.key)!.raw.with(1, at.raw[1]!));
    }
  },
);

test.each(VERSIONS)(
  'OSPFv%d: what an agent between areas copied before it was killed stays until it has learned it again',
  (version) => {
    const { a, b, link } = pair(version);
    const [copied] = lsasFor(version, [1]);
    const key = lsaKeyText({ ...copied!, advertisingRouter: A });
    link.event(0, { type: 'originate', areaId: AREA, lsas: [copied!] });
    link.until('full', () => a.state === 'full' && b.state === 'full' && b.notified.has(key));
    link.run(10_000);
    const again = link.restart(0);
    link.event(0, { type: 'originate', areaId: AREA, lsas: [], more: true });
    link.until('full again', () => again.state === 'full');
    link.run(5000);
    expect(b.notified.has(key)).toBe(true);
    link.event(0, { type: 'originate', areaId: AREA, lsas: [copied!], more: true });
    link.run(60_000);
    expect(b.notified.has(key)).toBe(true);
    // So slow to come up that the grace would be over, did it count from the start: hellos are every ten seconds.
    const slow = link.restart(0);
    link.event(0, { type: 'originate', areaId: AREA, lsas: [], more: true });
    link.weather = () => [];
    link.run(9990);
    link.weather = FAIR;
    link.until('full at last', () => slow.state === 'full');
    link.run(2000);
    expect(b.notified.has(key)).toBe(true);
    link.event(0, { type: 'originate', areaId: AREA, lsas: [copied!], more: true });
    link.run(60_000);
    expect({ hasKey: b.notified.has(key), ownWithdrawn: slow.count('own.withdrawn') }).toEqual({
      hasKey: true,
      ownWithdrawn: 0,
    });
    // Had it not learned it again, the time of grace would have ended it.
    const last = link.restart(0);
    link.event(0, { type: 'originate', areaId: AREA, lsas: [], more: true });
    link.until('full once more', () => last.state === 'full');
    link.run(15_000);
    expect(b.notified.has(key)).toBe(false);
  },
);

test.each(VERSIONS)(
  'OSPFv%d: as long as an area has no neighbor, an agent between areas does not know what it copied; but it does not wait for ever',
  (version) => {
    const { core, a, b, link } = pair(version);
    const [copied] = lsasFor(version, [1]);
    const key = lsaKeyText({ ...copied!, advertisingRouter: A });
    link.event(0, { type: 'originate', areaId: AREA, lsas: [copied!] });
    link.until('full', () => a.state === 'full' && b.notified.has(key));
    const again = link.restart(0, testConfig(A, core, {}, { areas: [areaConfig(), areaConfig({ areaId: 0 })] }));
    link.event(0, { type: 'originate', areaId: AREA, lsas: [], more: true });
    link.until('full again', () => again.state === 'full');
    link.run(60_000);
    expect(b.notified.has(key)).toBe(true);
    link.run(60_000);
    expect(b.notified.has(key)).toBe(false);
  },
);
