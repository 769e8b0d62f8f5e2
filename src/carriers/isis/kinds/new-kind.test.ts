// A new kind of advertisement is one file and one row: the speaker is given the row and needs nothing else. The kind is
// that of color.fixture.ts.
import { describe, expect, test } from 'vitest';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import { formatPrefix, prefix } from '../../../model/prefix.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { lsp } from '../hostile.fixture.ts';
import { AGENT_A, AGENT_B, LEARNER, ORIGIN, net } from '../leaking/leaking.fixture.ts';
import type { Router } from '../router.fixture.ts';
import { type Agent, proxied, systemId } from '../simulation.fixture.ts';
import { COLOR_TLV, LEVEL_LOCAL, WITH_COLOR, colorOf } from './color.fixture.ts';

const [RED, BLUE] = [prefix('2001:db8:1::/48'), prefix('2001:db8:2::/56')];

function scene() {
  const { simulation, router, add } = net();
  const agent = (system: string, levels: readonly Level[]): Agent => add(system, levels, {}, WITH_COLOR);
  return { simulation, router, agent };
}

const colorsOf = (agent: Agent): string[] =>
  [...agent.reports.values()]
    .flatMap(({ originator, advertisements }) =>
      (advertisements as readonly (LearnedAdvertisement | { kind: 'color'; prefix: typeof RED; color: number })[])
        .filter((one) => one.kind === 'color')
        .map((one) => `${originator} ${formatPrefix(one.prefix)} ${one.color}`),
    )
    .sort();

/** The values of the TLV that a system advertises in a level, in hex. */
const tlvsOf = (router: Router, level: Level, system: string): string[] =>
  [...router.lsps[level]]
    .filter(([key, { lifetime }]) => key.startsWith(system) && lifetime > 0)
    .flatMap(([, { raw }]) => {
      const decoded = decodePdu(raw);
      return decoded.ok && decoded.value.kind === 'lsp' ? decoded.value.tlvs : [];
    })
    .flatMap((tlv) =>
      tlv.kind === 'unknown' && tlv.type === COLOR_TLV ? [Buffer.from(tlv.value).toString('hex')] : [],
    );

describe('a kind that exists only here', () => {
  test.each<[Level, Level, string, string]>([
    [1, 2, '400730' + '20010db80001', '40093820010db8000200'],
    [2, 1, 'c00730' + '20010db80001', 'c0093820010db8000200'],
  ])('is leaked from level %i to level %i, and withdrawn again', (from, to, red, blue) => {
    const { simulation, router, agent } = scene();
    const origin = agent(ORIGIN, [from]);
    const middle = agent(AGENT_A, [1, 2]);
    const learner = agent(LEARNER, [to]);
    origin.event({ type: 'originate', origination: [colorOf(RED, 7), colorOf(BLUE, 9)] });
    simulation.run(60_000);
    expect(tlvsOf(router, from, ORIGIN)).toEqual([`000730` + '20010db80001' + '0009382001' + '0db8000200']);
    expect(tlvsOf(router, to, AGENT_A)).toEqual([red + blue]);
    expect(colorsOf(learner)).toEqual([`L${to} ${AGENT_A} 2001:db8:1::/48 7`, `L${to} ${AGENT_A} 2001:db8:2::/56 9`]);
    expect(middle.count('isis.carry.carried')).toBe(2);
    origin.event({ type: 'originate', origination: [colorOf(BLUE, 9)] });
    simulation.run(60_000);
    expect(colorsOf(learner)).toEqual([`L${to} ${AGENT_A} 2001:db8:2::/56 9`]);
    origin.event({ type: 'originate', origination: [] });
    simulation.run(60_000);
    expect({ colorsOf: colorsOf(learner), tlvsOf: tlvsOf(router, to, AGENT_A) }).toEqual({
      colorsOf: [],
      tlvsOf: [],
    });
    expect(middle.count('isis.carry.withdrawn')).toBe(2);
  });

  test('follows its own leaking rules: a level-local entry stays, and of two the preferred one is leaked', () => {
    const { simulation, agent } = scene();
    const [origin, other] = [agent(ORIGIN, [1]), agent('0000.0000.0002', [1])];
    agent(AGENT_A, [1, 2]);
    const learner = agent(LEARNER, [2]);
    origin.event({ type: 'originate', origination: [colorOf(RED, 7), colorOf(BLUE, LEVEL_LOCAL)] });
    other.event({ type: 'originate', origination: [colorOf(RED, 8)] });
    simulation.run(60_000);
    expect(colorsOf(learner)).toEqual([`L2 ${AGENT_A} 2001:db8:1::/48 8`]);
    expect(colorsOf(origin)).toEqual(['L1 0000.0000.0002 2001:db8:1::/48 8']);
  });

  test('of two agents between the levels one leaks it, and neither leaks the copy back', () => {
    const { simulation, router, agent } = scene();
    const origin = agent(ORIGIN, [1]);
    for (const system of [AGENT_A, AGENT_B]) agent(system, [1, 2]);
    const learner = agent(LEARNER, [2]);
    origin.event({ type: 'originate', origination: [colorOf(RED, 7)] });
    simulation.run(120_000);
    expect(colorsOf(learner)).toEqual([`L2 ${AGENT_A} 2001:db8:1::/48 7`]);
    expect([AGENT_A, AGENT_B].flatMap((system) => tlvsOf(router, 1, system))).toEqual([]);
  });

  test('shares fragments with other kinds, and counts what cannot be advertised', () => {
    const { simulation, agent } = scene();
    const [origin, learner] = [agent(ORIGIN, [2]), agent(LEARNER, [2])];
    const many = Array.from({ length: 200 }, (_, i) => colorOf(prefix(`2001:db8:${(i + 1).toString(16)}::/48`), 5));
    origin.event({ type: 'originate', origination: [proxied('2001:db8:7::/48'), ...many, colorOf(RED, 0)] });
    simulation.run(20_000);
    expect({ colorsOfLength: colorsOf(learner).length, prefixesLength: learner.prefixes().length }).toEqual({
      colorsOfLength: 200,
      prefixesLength: 1,
    });
    expect(origin.count('isis.originate.unusable-color')).toBe(1);
  });

  test.each([
    ['isis.sub-tlv.color-zero', '000030' + '20010db80009' + '000730' + '20010db80001'],
    ['isis.sub-tlv.color-overrun', '000730' + '20010db80001' + '0007ff' + '20010db8'],
    ['isis.sub-tlv.color-overrun', '000730' + '20010db80001' + '00'],
  ])('%s: a hostile value is counted; valid entries beside it are used', (counter, hex) => {
    const { simulation, agent } = scene();
    const learner = agent(LEARNER, [2]);
    simulation.run(20_000);
    const lspId = { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment: 9 };
    const value = Uint8Array.from(Buffer.from(hex, 'hex'));
    learner.deliver(lsp({ level: 2, sequence: 7, lspId, tlvs: [{ kind: 'unknown', type: COLOR_TLV, value }] }));
    simulation.run(1000);
    expect({ counter: learner.count(counter), colorsOf: colorsOf(learner) }).toEqual({
      counter: 1,
      colorsOf: ['L2 0000.0000.1111 2001:db8:1::/48 7'],
    });
  });
});
