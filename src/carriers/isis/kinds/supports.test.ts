// What the senders of a prefix understand, in IS-IS: advertised, learned, withdrawn, leaked between levels.
import { describe, expect, test } from 'vitest';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { prefix } from '../../../model/prefix.ts';
import { type SenderFormat, understood } from '../../../model/understood.ts';
import { fromHex, toHex } from '../../../packet/hex.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { AGENT_A, LEARNER, ORIGIN, advertise, advertised, net } from '../leaking/leaking.fixture.ts';
import { type Agent, originate, proxied } from '../simulation.fixture.ts';

const P = '2001:db8:1::/64';
const claimed = (...formats: readonly SenderFormat[]): AdvertisementOf<'sender-prefix'> => ({
  kind: 'sender-prefix',
  prefix: prefix(P),
  supports: understood(formats),
});
const learned = (agent: Agent): string[] =>
  agent
    .prefixes()
    .map(({ pnc, proxy, supports }) => `${pnc ? 'P' : '-'} ${proxy ? 'proxy' : 'none'} ${supports?.join()}`);
const subTlv = (hex: string) => ({ kind: 'unknown', type: 250, value: fromHex(hex) }) as const;

describe('between routers', () => {
  test('it is learned with the flag and without it, changes, and is withdrawn', () => {
    const { simulation, add } = net();
    const [origin, learner] = [add(ORIGIN, [2]), add(LEARNER, [2])];
    origin.event(originate([{ ...proxied(P), supports: understood(['fast-cnp']) }]));
    simulation.run(20_000);
    expect(learned(learner)).toEqual(['P proxy fast-cnp']);
    origin.event(originate([claimed('long-haul-icmpv6', 'long-haul-roce')]));
    simulation.run(20_000);
    expect(learned(learner)).toEqual(['- none long-haul-icmpv6,long-haul-roce']);
    origin.event(originate([proxied(P)]));
    simulation.run(20_000);
    expect(learned(learner)).toEqual(['P proxy undefined']);
    origin.event(originate([]));
    simulation.run(20_000);
    expect(learned(learner)).toEqual([]);
  });

  test.each<[Level, Level]>([
    [1, 2],
    [2, 1],
  ])('PNC-5.1-c: from level %i it is leaked to level %i, with or without the flag, and withdrawn', (from, to) => {
    const { simulation, router, add } = net();
    const [origin, , learner] = [add(ORIGIN, [from]), add(AGENT_A, [1, 2]), add(LEARNER, [to])];
    for (const one of [{ ...proxied(P), supports: understood(['fast-cnp']) }, claimed('fast-cnp')]) {
      origin.event(originate([one]));
      simulation.run(60_000);
      expect(learned(learner)).toEqual([one.proxy ? 'P proxy fast-cnp' : '- none fast-cnp']);
      const [copy] = advertised(router, to, AGENT_A);
      expect(copy!.subTlvs.at(-1)).toEqual(subTlv('0180'));
    }
    origin.event(originate([]));
    simulation.run(60_000);
    expect([learned(learner), advertised(router, to, AGENT_A)]).toEqual([[], []]);
  });

  test('a copy has the bits that this version does not know, too', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    simulation.run(5000);
    advertise(agent, 1, 1, [{ subTlvs: [subTlv('01bf')] }]);
    simulation.run(5000);
    const copies = advertised(router, 2, AGENT_A).map(({ subTlvs }) =>
      subTlvs.map((one) => (one.kind === 'unknown' ? toHex(one.value) : one.kind)),
    );
    expect(copies).toEqual([['prefix-attribute-flags', '01bf']]);
  });
});

test.each(['', '01', '018000', '0280'])('"%s" is counted, and the prefix counts without it', (hex) => {
  const { simulation, add } = net();
  const agent = add(LEARNER, [2]);
  simulation.run(5000);
  advertise(agent, 2, 1, [{ subTlvs: [subTlv(hex)] }]);
  simulation.run(1000);
  expect({ learned: learned(agent), counted: agent.count('isis.lsp.bad-supports') }).toEqual({
    learned: ['- none undefined'],
    counted: 1,
  });
});
