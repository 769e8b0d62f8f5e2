// Copying between areas: flags, proxy address and router ID kept, in both directions, without echo, by one agent of
// several.
import { byKind, origination } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import type { ExtendedPrefixLsa } from '../../../packet/ospf/lsa/types.ts';
import { lsaWith } from '../kinds/reading.fixture.ts';
import { BORDER, FAR, LEAF, SECOND, SETTLED, VERSIONS, entriesOf, line } from './leaking.fixture.ts';
import {
  type ContentAgent,
  ContentNet,
  END_CON,
  declaration,
  named,
  proxyAddress,
  senderPrefix,
} from '../content.fixture.ts';

describe.each(VERSIONS)('OSPFv%d', (version) => {
  test('PNC-5.2-b PNC-5.2-c PNC-5.3-b PNC-5.3-c A15: into the backbone, with the original proxy address and router ID, as an inter-area prefix', () => {
    const { net, leaf, border, core } = line(version);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    expect(core.learned(senderPrefix(version, 1))).toEqual([`${named(0, BORDER)} ${proxyAddress(version, 7)}`]);
    const [copy] = entriesOf(border, 0);
    expect({
      route: copy!.route,
      sourceRouter: copy!.sourceRouter,
      proxy: formatAddress(copy!.proxy!),
      pnc: copy!.pnc,
      attached: copy!.attached,
    }).toEqual({ route: 'inter-area', sourceRouter: LEAF, proxy: proxyAddress(version, 7), pnc: true, attached: true });
    expect(entriesOf(border, 1)).toEqual([]);
    expect(border.advertised.get(0)!.map(({ body }) => body.kind)).toEqual([
      version === 2 ? 'extended-prefix-lsa' : 'e-inter-area-prefix',
    ]);
  });

  test('PNC-5.2-b PNC-5.3-b A15: out of the backbone, and on to areas beyond it', () => {
    const { net, leaf, core } = line(version);
    const far = (net.agent(SECOND, [0, 2]), net.agent(FAR, [2]));
    net.declare(leaf, declaration(version, [1], 7));
    net.declare(core, declaration(version, [2], 8));
    net.run(2 * SETTLED);
    expect(leaf.learned(senderPrefix(version, 2))).toEqual([`${named(1, BORDER)} ${proxyAddress(version, 8)}`]);
    expect(far.learned(senderPrefix(version, 1))).toEqual([`${named(2, SECOND)} ${proxyAddress(version, 7)}`]);
    expect(far.learned(senderPrefix(version, 2))).toEqual([`${named(2, SECOND)} ${proxyAddress(version, 8)}`]);
  });

  test('PNC-5.2-c PNC-5.3-c: across two border agents the router ID and the proxy stay the original ones; the A-flag is for the area that it is from alone', () => {
    const { net, leaf, border } = line(version);
    const second = net.agent(SECOND, [0, 2]);
    const far = net.agent(FAR, [2]);
    net.run(SETTLED);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(2 * SETTLED);
    const inLsas = (agent: ContentAgent, area: number): unknown[] =>
      entriesOf(agent, area).map((e) => [e.route, e.sourceRouter, formatAddress(e.proxy!), e.pnc, e.attached]);
    expect(inLsas(border, 0)).toEqual([['inter-area', LEAF, proxyAddress(version, 7), true, true]]);
    expect(inLsas(second, 2)).toEqual([['inter-area', LEAF, proxyAddress(version, 7), true, false]]);
    expect(far.learned(senderPrefix(version, 1))).toEqual([`${named(2, SECOND)} ${proxyAddress(version, 7)}`]);
  });

  test('a prefix that cannot contain a sender is not copied', () => {
    const { net, leaf, border } = line(version);
    net.declare(
      leaf,
      origination({
        proxies: [
          { prefix: prefix(version === 2 ? '224.1.0.0/16' : 'ff0e::/16'), proxy: address(proxyAddress(version, 7)) },
        ],
      }),
    );
    net.run(SETTLED);
    expect({ entriesOfLength: entriesOf(leaf, 1).length, entriesOf: entriesOf(border, 0) }).toEqual({
      entriesOfLength: 1,
      entriesOf: [],
    });
  });

  test('from one area to another at the same agent, which is in the backbone too', () => {
    const net = new ContentNet(version);
    const [leaf, far] = [net.agent(LEAF, [1]), net.agent(FAR, [2])];
    net.agent(BORDER, [0, 1, 2]);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    expect(far.learned(senderPrefix(version, 1))).toEqual([`${named(2, BORDER)} ${proxyAddress(version, 7)}`]);
  });

  test('an agent in two areas, neither of them the backbone, is no border router and copies nothing', () => {
    const net = new ContentNet(version);
    const [leaf, far] = [net.agent(LEAF, [1]), net.agent(FAR, [2])];
    net.agent(BORDER, [1, 2]);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    expect(far.learned(senderPrefix(version, 1))).toEqual([]);
  });

  test('A15: what was inter-area is not copied into the backbone, whoever advertises it', () => {
    const { net, border, core } = line(version);
    const other = net.agent(FAR, [1]);
    net.run(SETTLED);
    net.declare(other, declaration(version, [1], 7));
    net.run(SETTLED);
    expect(entriesOf(border, 0)).toHaveLength(1);
    const copy = { ...entriesOf(border, 0)[0]! };
    expect(copy.route).toBe('inter-area');
    net.stop(other);
    net.run(SETTLED);
    expect(entriesOf(border, 0)).toEqual([]);
    // Now the same as an inter-area prefix of a router in area 1.
    border.hears(1, LEAF, lsaWith(version, LEAF, [copy]));
    border.pass(SETTLED);
    expect(border.learned(senderPrefix(version, 1))).toEqual([`${named(1, LEAF)} ${proxyAddress(version, 7)}`]);
    expect(entriesOf(border, 0)).toEqual([]);
    expect(core.learned(senderPrefix(version, 1))).toEqual([]);
  });

  test('PNC-5.2-c PNC-5.3-c A15: a clear flag stays clear: the prefix is not copied, and one that loses its flag is withdrawn', () => {
    const { net, leaf, border, core } = line(version);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    expect(core.learned(senderPrefix(version, 1))).toHaveLength(1);
    const [own] = entriesOf(leaf, 1);
    border.now = net.now;
    const cleared = { ...own!, pnc: false, flags: new Uint8Array(4) };
    border.hears(1, LEAF, lsaWith(version, LEAF, [cleared]));
    border.pass(SETTLED);
    expect(border.learned(senderPrefix(version, 1))).toEqual([`${named(1, LEAF)} -`]);
    expect(entriesOf(border, 0)).toEqual([]);
    expect(border.count('carry.withdrawn')).toBe(1);
  });

  test('a withdrawal follows at once, without waiting for the hold time', () => {
    const { net, leaf, core } = line(version);
    net.declare(leaf, declaration(version, [1, 2], 7));
    net.run(SETTLED);
    net.declare(leaf, declaration(version, [2], 7));
    net.run(10);
    expect(core.learned(senderPrefix(version, 1))).toEqual([]);
    expect(core.learned(senderPrefix(version, 2))).toHaveLength(1);
  });

  test('a changed proxy address is copied', () => {
    const { net, leaf, core } = line(version);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    net.declare(leaf, declaration(version, [1], 9));
    net.run(10);
    expect(core.learned(senderPrefix(version, 1))).toEqual([`${named(0, BORDER)} ${proxyAddress(version, 9)}`]);
  });

  test('of two border agents the one with the lower router ID copies, and neither copies back', () => {
    const { net, leaf, border, core } = line(version);
    const second = net.agent(SECOND, [0, 1]);
    net.declare(leaf, declaration(version, [1], 7));
    net.declare(core, declaration(version, [2], 8));
    net.run(2 * SETTLED);
    expect(core.learned(senderPrefix(version, 1))).toEqual([`${named(0, BORDER)} ${proxyAddress(version, 7)}`]);
    expect(leaf.learned(senderPrefix(version, 2))).toEqual([`${named(1, BORDER)} ${proxyAddress(version, 8)}`]);
    expect({ area0: entriesOf(border, 0).length, area1: entriesOf(border, 1).length }).toEqual({ area0: 1, area1: 1 });
    expect({ area0: entriesOf(second, 0).length, area1: entriesOf(second, 1).length }).toEqual({ area0: 0, area1: 0 });
    const before = [border, second].map((agent) => [agent.count('carry.carried'), agent.count('carry.withdrawn')]);
    net.run(600_000);
    expect([border, second].map((agent) => [agent.count('carry.carried'), agent.count('carry.withdrawn')])).toEqual(
      before,
    );
  });

  test('the copying agent is lost: the other takes over while the copy still counts; back again, it copies again', () => {
    const { net, leaf, border, core } = line(version);
    net.agent(SECOND, [0, 1]);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(2 * SETTLED);
    net.kill(border);
    net.run(SETTLED);
    expect(core.learned(senderPrefix(version, 1))).toEqual([`${named(0, SECOND)} ${proxyAddress(version, 7)}`]);
  });

  test('two border agents: when the leaf withdraws nothing is left, and when it dies nothing is after the hold time', () => {
    for (const end of ['stop', 'kill'] as const) {
      const { net, leaf, border, core } = line(version);
      const second = net.agent(SECOND, [0, 1]);
      net.declare(leaf, declaration(version, [1], 7));
      net.run(2 * SETTLED);
      net[end](leaf);
      net.run(SETTLED);
      expect(entriesOf(border, 0)).toHaveLength(end === 'stop' ? 0 : 1);
      net.run(121_000);
      for (const agent of [border, second]) for (const areaId of [0, 1]) expect(entriesOf(agent, areaId)).toEqual([]);
      expect(core.learned(senderPrefix(version, 1))).toEqual([]);
    }
  });

  test.each([5100, 9500])(
    'A15: the copy of the agent that copies outlives the original by %d ms (MinLSInterval): the other does not copy it back',
    (ms) => {
      const { net, leaf, border, core } = line(version);
      const second = net.agent(SECOND, [0, 1]);
      net.declare(leaf, declaration(version, [1], 7));
      net.run(2 * SETTLED);
      net.slow(border, ms);
      net.declare(leaf, declaration(version, []));
      net.run(ms - 100);
      expect(core.learned(senderPrefix(version, 1))).toHaveLength(1);
      expect(entriesOf(second, 1)).toEqual([]);
      net.run(60_000);
      expect(core.learned(senderPrefix(version, 1))).toEqual([]);
      expect(second.count('carry.carried')).toBe(0);
      expect(second.content.interArea.ownUntil.size).toBe(0);
    },
  );

  test('A15: what the area itself advertised is copied into it again when another area still advertises it', () => {
    const { net, leaf } = line(version);
    net.agent(SECOND, [0, 2]);
    const far = net.agent(FAR, [2]);
    net.declare(far, declaration(version, [1], 8));
    net.declare(leaf, declaration(version, [1], 7));
    const other = net.agent(0x06060606, [1]);
    net.run(4 * SETTLED);
    expect(other.learned(senderPrefix(version, 1))).toEqual([`${named(1, LEAF)} ${proxyAddress(version, 7)}`]);
    net.declare(leaf, declaration(version, []));
    net.run(3 * SETTLED);
    expect(other.learned(senderPrefix(version, 1))).toEqual([`${named(1, BORDER)} ${proxyAddress(version, 8)}`]);
  });

  test('A15: into an area whose neighbor is yet to come nothing is copied: it may say the same itself', () => {
    const net = new ContentNet(version);
    net.agent(BORDER, [0, 1]);
    const leaf = net.agent(LEAF, [1]);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    const second = net.agent(SECOND, [0, 1], {}, [0]);
    net.run(SETTLED);
    expect({ learned: second.learned(senderPrefix(version, 1)), entriesOf: entriesOf(second, 1) }).toEqual({
      learned: [`${named(0, BORDER)} ${proxyAddress(version, 7)}`],
      entriesOf: [],
    });
    net.join(second, 1);
    net.run(2 * SETTLED);
    expect(second.count('carry.carried')).toBe(0);
  });

  test.runIf(version === 2)(
    'A15: a prefix whose route type is unspecified may be of another area: it is learned, and not copied (RFC 7684 §2.1)',
    () => {
      const { net, leaf, border } = line(version);
      net.declare(leaf, declaration(version, [1], 7));
      net.run(SETTLED);
      expect(entriesOf(border, 0)).toHaveLength(1);
      const own = lsaWith(version, LEAF, entriesOf(leaf, 1));
      const body = own.body as ExtendedPrefixLsa;
      border.hears(1, LEAF, {
        ...own,
        body: { ...body, tlvs: body.tlvs.map((tlv) => ({ ...tlv, routeType: 0 })) },
      });
      border.pass(SETTLED);
      expect(border.learned(senderPrefix(version, 1))).toEqual([`${named(1, LEAF)} ${proxyAddress(version, 7)}`]);
      expect(entriesOf(border, 0)).toEqual([]);
    },
  );

  test('the table names the LSA as the database does', () => {
    const { net, leaf, border } = line(version);
    net.declare(leaf, declaration(version, [1], 7));
    net.run(SETTLED);
    expect([...border.reports.keys()]).toContain(
      version === 2 ? '0.0.0.1 extended-prefix 7.0.0.0 1.1.1.1' : '0.0.0.1 E-Intra-Area-Prefix 0.0.0.0 1.1.1.1',
    );
  });

  test('what the operator of the border declares comes before what it would copy; copied again when that ends', () => {
    const { net, leaf, border, core } = line(version);
    net.declare(leaf, declaration(version, [1], 7));
    net.declare(border, declaration(version, [1], 3));
    net.run(SETTLED);
    expect(core.learned(senderPrefix(version, 1))).toEqual([`${named(0, BORDER)} ${proxyAddress(version, 3)}`]);
    expect(entriesOf(border, 1)).toHaveLength(1);
    net.declare(border, declaration(version, []));
    net.run(SETTLED);
    expect(core.learned(senderPrefix(version, 1))).toEqual([`${named(0, BORDER)} ${proxyAddress(version, 7)}`]);
    expect(entriesOf(border, 1)).toEqual([]);
  });

  test('FCN-4.2.2-a: END.CON is copied between areas as well, and withdrawn', () => {
    const { net, leaf, core } = line(version);
    const sids = [{ sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON }];
    net.declare(leaf, declaration(version, [], 1, { sids }));
    net.run(SETTLED);
    const learned = (): string[] =>
      [...core.reports.values()].flatMap((report) =>
        byKind(report.advertisements).sids.map(({ sid }) => `${report.originator} ${formatAddress(sid)}`),
      );
    expect(learned()).toEqual([`${named(0, BORDER)} 2001:db8:c::1`]);
    net.declare(leaf, declaration(version, []));
    net.run(100);
    expect(learned()).toEqual([]);
  });

  test('2,000 prefixes are copied a batch at a time, and all arrive', () => {
    const { net, leaf, core } = line(version);
    net.declare(
      leaf,
      declaration(
        version,
        Array.from({ length: 2000 }, (_, n) => n),
        7,
      ),
    );
    net.run(SETTLED);
    const flagged = [...core.reports.values()].flatMap((r) =>
      byKind(r.advertisements).prefixes.filter(({ pnc }) => pnc),
    );
    expect(flagged).toHaveLength(2000);
  });
});
