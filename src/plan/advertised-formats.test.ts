// What this router advertises of its senders (source.advertise), and how it uses what others advertise of theirs.
import { describe, expect, test } from 'vitest';
import { sendersOf } from '../model/advertisement.fixture.ts';
import { formatAddress } from '../model/address.ts';
import { formatPrefix, prefix } from '../model/prefix.ts';
import { understood } from '../model/understood.ts';
import { planCongestedNode } from './congested-node.ts';
import type { Facts } from './facts.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { originated } from './origination.ts';
import { planSource, takesForHosts } from './source.ts';

const FROM = 'accept-from: [2001:db8:ffff::/48]';
const source = (senders: string, rest = 'advertise: on'): string =>
  `source: { senders: [${senders}], ${FROM}, ${rest} }\n`;
const proxy = (...prefixes: readonly string[]): string =>
  `proxy: { address: 2001:db8:ffff::1, ${FROM}, senders: [${prefixes
    .map((text) => `{ prefix: ${text}, format: standard-cnp }`)
    .join(', ')}] }\n`;
function advertised(sections: string, facts: Facts = FACTS): string[] {
  const intent = intentOf(sections);
  return sendersOf(originated(intent, { takesForHosts: takesForHosts(planSource(intent, facts)) })).map(
    (one) =>
      `${formatPrefix(one.prefix)} ${one.proxy ? formatAddress(one.proxy) : 'none'} ${one.supports?.join() ?? '-'}`,
  );
}
const ALL = 'fast-cnp,long-haul-icmpv6,long-haul-roce';
const CONVERT = '{ prefix: 2001:db8:1::/64, action: convert }';

describe('a source', () => {
  test('PNC-6-f: advertises nothing by default', () => {
    expect(advertised(source(CONVERT, 'rate: 1/s'))).toEqual([]);
    expect(advertised(proxy('2001:db8:1::/64') + source(CONVERT, 'rate: 1/s'))).toEqual([
      '2001:db8:1::/64 2001:db8:ffff::1 -',
    ]);
  });

  test.each([
    [CONVERT, [`2001:db8:1::/64 none ${ALL}`]],
    ['{ prefix: 10.1.0.0/16, action: convert }', ['10.1.0.0/16 none long-haul-roce']],
    ['{ prefix: 2001:db8:1::/64, action: convert, supports: [fast-cnp] }', ['2001:db8:1::/64 none fast-cnp']],
    [`{ prefix: 2001:db8:2::/64, action: pass }, ${CONVERT}`, [`2001:db8:1::/64 none ${ALL}`]],
    ['{ prefix: 2001:db8:2::/64, action: pass, supports: [fast-cnp] }', ['2001:db8:2::/64 none fast-cnp']],
  ])('with %s advertises %j', (senders, expected) => expect(advertised(source(senders))).toEqual(expected));

  test('that is a proxy advertises both together, also where one is declared for a shorter prefix', () => {
    expect(advertised(proxy('2001:db8:1::/64') + source(CONVERT))).toEqual([`2001:db8:1::/64 2001:db8:ffff::1 ${ALL}`]);
    expect(advertised(proxy('2001:db8::/32') + source(CONVERT))).toEqual([
      '2001:db8::/32 2001:db8:ffff::1 -',
      `2001:db8:1::/64 2001:db8:ffff::1 ${ALL}`,
    ]);
    expect(advertised(proxy('2001:db8:1:2::/64') + source('{ prefix: 2001:db8:1::/48, action: convert }'))).toEqual([
      `2001:db8:1:2::/64 2001:db8:ffff::1 ${ALL}`,
      `2001:db8:1::/48 none ${ALL}`,
    ]);
  });

  test('advertises nothing while it takes nothing: its kernel lacks something, or no port is certain', () => {
    const features = ['tcx', 'clsact'].map((name) => ({ name, ok: false, detail: 'none', remedy: 'another kernel' }));
    expect(advertised(source(CONVERT), { ...FACTS, features })).toEqual([]);
    expect(advertised(source(CONVERT, 'advertise: on, interfaces: [eth7]'))).toEqual([]);
    expect(advertised(source(CONVERT, 'advertise: on, interfaces: [eth7, eth1]'))).toHaveLength(1);
    const uncertain = 'border-ports: [far]\n';
    expect(advertised(source(CONVERT) + uncertain)).toEqual([]);
    expect(advertised(proxy('2001:db8:1::/64') + source(CONVERT) + uncertain)).toEqual([
      '2001:db8:1::/64 2001:db8:ffff::1 -',
    ]);
  });
});

describe('a congested node', () => {
  const policy = (supports: string, order = '[long-haul-roce, fast-cnp]'): string =>
    'ports: [{ interface: wan, k-max: 200kB }]\n' +
    `notifications: { senders: [{ prefix: "::/0", supports: ${supports}, order: ${order} }] }\n`;

  test('uses what is advertised with supports: advertised only, and marks CE all the same (FCNP-4-a)', () => {
    const table = learnedTable();
    const supports = understood(['fast-cnp']);
    const one = { kind: 'sender-prefix', prefix: prefix('2001:db8:1::/64'), pnc: false, metric: 1, supports } as const;
    table.learned({ carrier: 'isis', source: 'r2.00-01', originator: 'r2', advertisements: [one] });
    table.takeChanges();
    const planned = planCongestedNode(intentOf(policy('advertised')), table, FACTS);
    expect(planned.senderPolicies).toEqual([
      {
        id: '::/0',
        prefix: prefix('::/0'),
        order: ['long-haul-roce', 'fast-cnp'],
        markCeWithFastCnp: true,
        onlyAdvertised: true,
      },
    ]);
    expect([...planned.senderProxies.all()]).toContainEqual(
      expect.objectContaining({ id: '2001:db8:1::/64', proxy: null, supports }),
    );
    const configured = planCongestedNode(intentOf(policy('[fast-cnp]', '[fast-cnp]')), table, FACTS);
    expect([configured.senderPolicies[0]!.onlyAdvertised, [...configured.senderProxies.all()]]).toEqual([
      undefined,
      [],
    ]);
  });
});
