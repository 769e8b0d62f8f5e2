// LSPs under the name of an agent that are not its own, across real isisd: of another router with its system ID, and
// forged ones; and LSPs whose content is odd. They wait for timers that are compiled into isisd (ZeroAge is a minute),
// so they wait side by side, each in a network of its own.
import { byKind } from '../../src/model/advertisement.fixture.ts';
import { expect, test } from 'vitest';
import { foreignLsp, fragmentOf } from '../../src/packet/isis/foreign.fixture.ts';
import { parseSystemId } from '../../src/packet/isis/lsp-id.ts';
import type { Lsp } from '../../src/packet/isis/types.ts';
import { IsisScene, PROXY, SENDERS, SYSTEM, up } from './support/isis-scene.ts';
import { type IsisAgent, origination, proxied } from './support/isis.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const forged = (system: string, { fragment = 0, ...fields }: Partial<Lsp> & { fragment?: number }): Uint8Array =>
  foreignLsp(fragmentOf(parseSystemId(system)!, fragment), fields);
/** Sends FRR a forged PDU on the link of this agent. */
const inject = (agent: IsisAgent, pdu: Uint8Array): void =>
  (agent.carrier as unknown as { network: { send(pdu: Uint8Array): void } }).network.send(pdu);
const HIGHEST = 0xffffffff;
const MANY = Array.from({ length: 60 }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`, PROXY));
const reaches = (agent: IsisAgent): boolean => agent.reachable.has(`L2 ${SYSTEM[1]}`);
const trouble = (agent: IsisAgent) => agent.carrier.trouble()[0]!;

/** a – FRR – FRR – FRR – c; the attacker is at the FRR in the middle. */
async function attacked(
  scene: IsisScene,
): Promise<{ a: IsisAgent; c: IsisAgent; attacker: IsisAgent; hellos(n: number): Promise<unknown> }> {
  const [r1, r2, r3] = await scene.chain();
  const [a, attacker, c] = [await scene.agent(r1!, 1), await scene.agent(r2!, 2), await scene.agent(r3!, 3)];
  a.carrier.originate(origination(MANY));
  attacker.carrier.originate(origination([]));
  await Promise.all([up(a), up(attacker), up(c)]);
  await until(
    'learned',
    () => ({ flagged: c.flagged, reaches: reaches(c) }),
    is({ flagged: MANY.length, reaches: true }),
  );
  const hellos = (n: number): Promise<unknown> => {
    const enough = c.count('isis.rx.hello') + n;
    return until(`${n} hellos later`, () => c.count('isis.rx.hello'), atLeast(enough), 300_000);
  };
  return { a, c, attacker, hellos };
}

test.concurrent(
  'PNC-5-b: LSPs of ours that are forged with the highest sequence number: others learn the prefixes again within 10 s, from other fragments',
  IsisScene.alone(async (scene) => {
    const { a, c, attacker } = await attacked(scene);
    expect(trouble(a).exhausted).toEqual([]);
    for (const fragment of [1, 2]) inject(attacker, forged(SYSTEM[1], { fragment, sequence: HIGHEST }));
    await until('noticed', () => a.count('isis.own.sequence-wrap'), is(2));
    // Nothing is left in the fragments that were forged, and all is there: c sees the one before the other.
    const emptied = (): boolean =>
      ['01', '02'].every(
        (fragment) => (c.reports.get(`L2 ${SYSTEM[1]}.00-${fragment}`)?.advertisements ?? []).length === 0,
      );
    const known = (): number =>
      new Set(
        [...c.reports.values()].flatMap((r) => byKind(r.advertisements).prefixes.map((p) => p.prefix.address.value)),
      ).size;
    await until(
      'learned again',
      () => ({ emptied: emptied(), flagged: c.flagged, known: known() }),
      (seen) => seen.emptied && seen.flagged === MANY.length && seen.known >= MANY.length,
      10_000,
    );
    expect(trouble(a).exhausted.map(({ fragment }) => fragment)).toEqual([1, 2]);
    await until(
      'the forged ones are purged',
      () => c.carrier.database().filter((lsp) => /c001\.00-0[12]/.test(lsp.lspId)),
      (all) => all.every((lsp) => lsp.lifetime === 0),
    );
    expect(reaches(c)).toBe(true);
  }),
);

test.concurrent(
  'PNC-5-b: fragment 0 that is forged with the highest sequence number: others hold what they learned, and reach us again before they would forget it',
  IsisScene.alone(async (scene) => {
    const { a, c, attacker } = await attacked(scene);
    inject(attacker, forged(SYSTEM[1], { sequence: HIGHEST }));
    await until('noticed', () => a.count('isis.own.sequence-wrap'), is(1));
    expect(trouble(a).exhausted.map(({ fragment }) => fragment)).toEqual([0]);
    await until('unreachable for them', () => !reaches(c));
    await until('reachable again', () => reaches(c), 110_000);
    expect({ flagged: c.flagged, exhausted: trouble(a).exhausted }).toEqual({ flagged: MANY.length, exhausted: [] });
    // And FRR, which had dropped the other fragments with fragment 0, has them and takes new ones.
    a.carrier.originate(origination([...MANY, proxied('2001:db8:77::/64', PROXY)]));
    await until('a new one is learned', () => c.flagged, is(MANY.length + 1));
  }),
);

test.concurrent(
  'two routers with one system ID: a few LSPs a minute on the core, and both say so',
  IsisScene.alone(async (scene) => {
    const [r1, r2, r3] = await scene.chain();
    const watcher = await scene.agent(r2!, 2);
    const a = await scene.agent(r1!, 1);
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    await up(a);
    // Sequence numbers begin with the second of the start: with the same ones each side of the network would keep its
    // own.
    const started = Date.now();
    await until('another second', () => Date.now(), moreThan(started + 3000));
    const b = await scene.agent(r3!, 1);
    b.carrier.originate(origination([proxied('2001:db8:2::/64', '2001:db8:ffff::2')]));
    await Promise.all([up(a), up(b), up(watcher)]);
    const [lsps, hellos] = [watcher.count('isis.rx.lsp'), watcher.count('isis.rx.hello')];
    await until(
      'both report it',
      () => [a, b].map((agent) => trouble(agent).systemIdContested),
      (contested) => contested.every(Boolean),
    );
    await until('forty seconds of hellos later', () => watcher.count('isis.rx.hello'), atLeast(hellos + 15), 120_000);
    expect(watcher.count('isis.rx.lsp') - lsps).toBeLessThan(60);
    expect({ a: a.state, b: b.state }).toEqual({ a: 'up', b: 'up' });
  }),
);

test.concurrent(
  'LSPs that isisd floods and cnpd cannot use are acknowledged: isisd sends them once',
  IsisScene.alone(async (scene) => {
    const { c, attacker, hellos } = await attacked(scene);
    const uncomputed = forged('0000.0000.dead', {});
    uncomputed.fill(0, 24, 26);
    inject(attacker, uncomputed);
    inject(attacker, forged('0000.0000.beef', { sequence: 0 }));
    await until(
      'counted',
      () => [c.count('isis.lsp.unusable.zero-checksum'), c.count('isis.lsp.unusable.zero-sequence')] as const,
      ([a, b]) => a === 1 && b === 1,
    );
    // isisd would send them again every 5 s. Its own LSPs may be new once or twice, up to lsp-gen-interval later.
    let before: number;
    let windows = 0;
    do {
      before = c.count('isis.rx.lsp');
      await hellos(12);
    } while (c.count('isis.rx.lsp') !== before && ++windows < 5);
    expect(c.count('isis.rx.lsp')).toBe(before);
    expect(c.carrier.database().map((lsp) => lsp.lspId)).toEqual(
      expect.arrayContaining(['0000.0000.dead.00-00', '0000.0000.beef.00-00']),
    );
    expect({ flagged: c.flagged, state: c.state }).toEqual({ flagged: MANY.length, state: 'up' });
  }),
);
