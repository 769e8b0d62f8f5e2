// A run of the speaker from its first link to its end: the effects of a new configuration, what a stop waits for, and
// how often a warning is logged.
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { decodePdu } from '../../packet/isis/pdu.ts';
import type { ReceivedPdu } from '../../packet/isis/types.ts';
import { A, B, adjacency, lsp, patched } from './hostile.fixture.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from './simulation.fixture.ts';
import { jittered, random, warnLimited } from '../effects.ts';
import type { Speaker, SpeakerConfig } from './state.ts';
import { createSpeaker } from './speaker.ts';

const KEY = new TextEncoder().encode('k');
const LINK = { type: 'link-up', linkLocal: address('fe80::1') } as const;
const sentBy = ({ sent }: Agent): ReceivedPdu[] =>
  sent.map((bytes) => decodePdu(bytes)).flatMap((pdu) => (pdu.ok ? [pdu.value] : []));
const lspsOf = (agent: Agent): string[] =>
  sentBy(agent).flatMap((pdu) =>
    pdu.kind === 'lsp' ? [`${pdu.level}:${pdu.lspId.fragment}${pdu.remainingLifetime === 0 ? ' purged' : ''}`] : [],
  );

describe('a new configuration', () => {
  const change = (agent: Agent, fields: Partial<SpeakerConfig>): void => {
    agent.sent.length = 0;
    agent.logged.length = 0;
    agent.event({ type: 'configure', config: { ...agent.speaker.config, ...fields } });
  };
  const scene = () => {
    const net = adjacency({ levels: [1, 2] });
    net.a.event(originate([proxied('2001:db8:1::/64')]));
    net.simulation.run(3000);
    return net;
  };
  const keyChanges = ({ logged }: Agent): unknown[] =>
    logged.flatMap(({ fields }) => ('scopes' in fields ? [fields] : []));

  test.each<[string, Partial<SpeakerConfig>, string[], unknown[]]>([
    ['without a change', {}, [], []],
    ['with other timers', { helloIntervalMs: 1000, holdMultiplier: 3, holdUnreachableMs: 1 }, [], []],
    ['with another lifetime', { lifetimeSeconds: 600 }, ['1:0', '1:1', '2:0', '2:1'], []],
    ['with a key for hellos', { keys: { interface: KEY } }, [], [{ scopes: ['interface'] }]],
    ['with a key for level 1', { keys: { area: KEY } }, ['1:0', '1:1'], [{ scopes: ['area'] }]],
    ['with a key for level 2', { keys: { domain: KEY } }, ['2:0', '2:1'], [{ scopes: ['domain'] }]],
    [
      'with keys for all',
      { keys: { interface: KEY, area: KEY, domain: KEY } },
      ['1:0', '1:1', '2:0', '2:1'],
      [{ scopes: ['interface', 'area', 'domain'] }],
    ],
  ])('%s: which LSPs are issued again, and what is logged', (_what, fields, lsps, logged) => {
    const { a, simulation, wire } = scene();
    wire.filter = (pdu, from) => from === 0 && pdu.kind === 'lsp';
    change(a, fields);
    // A hello is sent at once: it has the new holding time and the new key.
    expect(sentBy(a).map(({ kind }) => kind)).toEqual(['p2p-hello']);
    simulation.run(1000);
    expect({ lspsOf: lspsOf(a).sort(), logged: keyChanges(a) }).toEqual({ lspsOf: lsps, logged });
  });

  test('advertises the new holding time and lifetime from then on', () => {
    const { a, simulation } = scene();
    change(a, { helloIntervalMs: 1000, holdMultiplier: 5, lifetimeSeconds: 600 });
    expect(sentBy(a)).toMatchObject([{ holdingTime: 5 }]);
    simulation.run(1000);
    const lifetimes = sentBy(a).flatMap((pdu) =>
      pdu.kind === 'lsp' ? [`${pdu.level}: ${pdu.remainingLifetime}`] : [],
    );
    expect(lifetimes.sort()).toEqual(['1: 600', '1: 600', '2: 600', '2: 600']);
    const hellos = a.count('isis.tx.hello');
    simulation.run(10_000);
    expect(a.count('isis.tx.hello') - hellos).toBeGreaterThanOrEqual(10);
  });

  test('does not change the name, the area or the levels', () => {
    const { a } = scene();
    change(a, {
      systemId: systemId(B),
      area: Uint8Array.of(1),
      levels: [1],
      mtu: 99,
      codePoints: { ...DEFAULT_CODE_POINTS, 'isis-pnc-flag-bit': 1 },
    });
    const { mtu, codePoints, area, levels, systemId: id } = a.speaker.config;
    expect({ mtu, isisPncFlagBit: codePoints['isis-pnc-flag-bit'], area: [...area], levels, id }).toEqual({
      mtu: 1500,
      isisPncFlagBit: 7,
      area: [0x49, 0, 1],
      levels: [1, 2],
      id: systemId(A),
    });
  });

  test('without a link sends nothing', () => {
    const agent = new Agent(new Simulation(), testConfig(A));
    change(agent, { keys: { domain: KEY } });
    expect({ sent: agent.sent, wakeAt: agent.wakeAt() }).toEqual({ sent: [], wakeAt: Infinity });
  });
});

test('without a link PDUs are ignored and no hello is due', () => {
  const { a, simulation } = adjacency();
  a.event({ type: 'link-down', reason: 'gone' });
  const before = a.count('isis.rx.lsp');
  a.deliver(lsp());
  simulation.run(1000);
  expect({ isisRxLsp: a.count('isis.rx.lsp'), helloAt: a.speaker.helloAt }).toEqual({
    isisRxLsp: before,
    helloAt: Infinity,
  });
});

describe('a stop', () => {
  test('purges every fragment of every level at once, even if just issued, and takes the adjacency down', () => {
    const { a, b, simulation } = adjacency({ levels: [1, 2] });
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(30);
    a.sent.length = 0;
    a.event({ type: 'stop' });
    simulation.run(5);
    expect(lspsOf(a).sort()).toEqual(['1:0 purged', '1:1 purged', '2:0 purged', '2:1 purged']);
    simulation.run(1000);
    expect({ stopped: a.stopped, aState: a.state, bState: b.state }).toEqual({
      stopped: true,
      aState: 'down',
      bState: 'initializing',
    });
    const last = sentBy(a).at(-1)!;
    expect(last.kind === 'p2p-hello' && last.tlvs).toContainEqual({
      ...{ kind: 'three-way-adjacency', state: 'down', circuitId: 1 },
    });
    expect(a.logged.map(({ message }) => message).join()).not.toContain('stopped before');
    // After the stop nothing is sent, logged or placed.
    a.sent.length = 0;
    a.event(originate([proxied('2001:db8:2::/64')]));
    a.event({ type: 'stop' });
    a.deliver(lsp());
    simulation.run(60_000);
    expect(a.sent).toEqual([]);
  });

  test('does not place a declaration made just before', () => {
    const { a, simulation } = adjacency();
    a.event(originate([proxied('2001:db8:1::/64')]));
    a.sent.length = 0;
    a.event({ type: 'stop' });
    simulation.run(1000);
    expect({ stopped: a.stopped, lspsOf: lspsOf(a) }).toEqual({ stopped: true, lspsOf: ['2:0 purged'] });
  });

  test('without a neighbor ends at once, clean', () => {
    const agent = new Agent(new Simulation(), testConfig(A));
    agent.event(LINK);
    agent.event(originate([proxied('2001:db8:1::/64')]));
    agent.wake();
    agent.sent.length = 0;
    agent.event({ type: 'stop' });
    expect({ stopped: agent.stopped, sent: agent.sent, logged: agent.logged }).toEqual({
      stopped: true,
      sent: [],
      logged: [],
    });
  });

  test('ends after 4 s, unclean and with a warning, when the neighbor acknowledges nothing', () => {
    const { a, simulation, wire } = adjacency();
    wire.filter = (pdu) => pdu.kind === 'p2p-hello';
    a.event({ type: 'stop' });
    a.event({ type: 'stop' });
    simulation.run(3999);
    expect(a.stopped).toBeUndefined();
    // The purge is sent once a second.
    expect(lspsOf(a).filter((each) => each === '2:0 purged')).toHaveLength(4);
    simulation.run(1);
    expect(a.stopped).toBe(false);
    expect(a.logged.map(({ message }) => message)).toContainEqual(expect.stringContaining('stopped before'));
    expect(sentBy(a).at(-1)).toMatchObject({ kind: 'p2p-hello' });
  });

  test('ends when the link goes down', () => {
    const { a, simulation, wire } = adjacency();
    wire.filter = (pdu) => pdu.kind === 'p2p-hello';
    a.event({ type: 'stop' });
    simulation.run(1000);
    a.event({ type: 'link-down', reason: 'gone' });
    expect(a.stopped).toBe(true);
  });
});

describe('a warning', () => {
  const speaker = (seed = 1): Speaker => createSpeaker(testConfig(A, { seed }), A);

  test('is always counted, and logged at most once a minute per name', () => {
    const s = speaker();
    const at = (now: number, name: string): unknown[] => {
      s.now = now;
      s.effects = [];
      warnLimited(s, name, { n: now }, 'text');
      return s.effects;
    };
    const count = (name: string) => ({ type: 'count', name: `isis.${name}`, by: 1 });
    const log = (name: string, n: number) => ({
      ...{ type: 'log', level: 'warn', fields: { counter: `isis.${name}`, n }, message: 'text' },
    });
    expect([at(0, 'a'), at(1, 'b'), at(59_999, 'a'), at(60_000, 'a'), at(60_001, 'a'), at(60_001, 'b')]).toEqual([
      [count('a'), log('a', 0)],
      [count('b'), log('b', 1)],
      [count('a')],
      [count('a'), log('a', 60_000)],
      [count('a')],
      [count('b'), log('b', 60_001)],
    ]);
  });

  test('names the error and its offset in the PDU', () => {
    const { a, give } = adjacency();
    give(patched(lsp(), 3, 8));
    give(new Uint8Array(1498).fill(0x83, 0, 1).fill(24, 4, 5));
    const fields = a.logged.map((each) => each.fields);
    expect(fields).toContainEqual({
      ...{ counter: 'isis.pdu.bad-id-length', offset: 3, detail: expect.any(String) as string },
    });
    expect(fields).toContainEqual({ counter: 'isis.pdu.oversized', length: 1498 });
  });

  test('timers are spread over the last quarter (ISO/IEC 10589 §10.1), differently for each seed and reproducibly', () => {
    const draws = (seed: number): number[] => {
      const s = speaker(seed);
      return Array.from({ length: 400 }, () => jittered(s, 1000));
    };
    const all = draws(1);
    expect(Math.min(...all)).toBeGreaterThanOrEqual(750);
    expect(Math.max(...all)).toBeLessThanOrEqual(1000);
    const quarters = [750, 812.5, 875, 937.5].map((from) => all.filter((t) => t >= from && t < from + 62.5).length);
    for (const each of quarters) expect(each).toBeGreaterThan(60);
    expect([draws(1), draws(2)]).toEqual([all, expect.not.arrayContaining([all[0]!])]);
    const s = speaker(-5);
    for (let i = 0; i < 400; i++) expect(random(s)).toSatisfy((x: number) => x >= 0 && x < 1);
  });
});
