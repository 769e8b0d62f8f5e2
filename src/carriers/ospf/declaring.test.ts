// What a declaration changes in what is advertised, and when the core gets it.
import { origination, sendersOf } from '../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import type { AdvertisementKinds, Origination } from '../../model/advertisement.ts';
import { prefix } from '../../model/prefix.ts';
import { BUILD_BATCH, SETTLE_LIMIT_MS, SIGNALING_METRIC } from './constants.ts';
import { type AnyVersion, ContentAgent, END_CON, contentConfig, declaration } from './content.fixture.ts';
import { declare, declareDue, issueDue } from './own/origination.ts';

const SELF = 0x01010101;
const AREA = 1;
const VERSIONS: readonly AnyVersion[] = [2, 3];
const agentOf = (version: AnyVersion): ContentAgent => new ContentAgent(contentConfig(version, SELF, [AREA]));
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe.each(VERSIONS)('OSPFv%d, declared again', (version) => {
  /** Whether the LSA is made anew. */
  const changes = (before: Origination, after: Origination): boolean => {
    const agent = agentOf(version);
    agent.declares(before);
    const [was] = agent.advertised.get(AREA)!;
    agent.declares(after);
    const [is] = agent.advertised.get(AREA)!;
    return was !== is;
  };
  const sid = (rest: Partial<AdvertisementKinds['sid']> = {}): Origination =>
    origination({
      sids: [{ sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON, ...rest }],
    });

  test('a prefix is another one with another proxy alone', () => {
    expect(changes(declaration(version, [1]), declaration(version, [1]))).toBe(false);
    expect(changes(declaration(version, [1]), declaration(version, [1], 2))).toBe(true);
  });

  test('a SID with another behavior or another locator', () => {
    expect(changes(sid(), sid())).toBe(false);
    expect(changes(sid(), sid({ behavior: END_CON + 1 }))).toBe(true);
    expect(changes(sid(), sid({ locator: prefix('2001:db8:c::/64') }))).toBe(true);
    const both = { behavior: END_CON + 1, locator: prefix('2001:db8:c::/64') };
    expect(changes(sid(), sid(both))).toBe(true);
  });

  test('what is declared has the P-flag, is of this area, and is no route', () => {
    const agent = agentOf(version);
    agent.declares(declaration(version, [1]));
    const [entry] = agent.content.declared.values();
    const { prefix: declared, proxy } = sendersOf(declaration(version, [1]))[0]!;
    expect(entry).toEqual({
      kind: 'sender-prefix',
      prefix: declared,
      pnc: true,
      metric: SIGNALING_METRIC,
      route: 'intra-area',
      flags: Uint8Array.of(0x20, 0, 0, 0),
      node: false,
      attached: false,
      proxy,
      sourceRouter: SELF,
    });
  });
});

describe('the core is given', () => {
  /** Declared, and not handed over yet. */
  function ready(count: number): ContentAgent {
    const agent = agentOf(2);
    declare(agent.content, declaration(2, numbers(count)));
    while (agent.content.declaring) declareDue(agent.content);
    return agent;
  }
  const isNotified = ({ content }: ContentAgent, now = content.now): boolean => {
    content.now = now;
    content.effects = [];
    issueDue(content);
    return content.effects.some(({ type }) => type === 'originate');
  };

  test('when so many entries are written in a turn', () => {
    expect(isNotified(ready(BUILD_BATCH - 1))).toBe(true);
    for (const count of [BUILD_BATCH, BUILD_BATCH + 100]) {
      const agent = ready(count);
      expect([isNotified(agent), isNotified(agent), isNotified(agent)]).toEqual([false, true, false]);
    }
  });

  test('not in the middle of a declaration', () => {
    const agent = ready(1);
    agent.content.declaring = [][Symbol.iterator]() as Iterator<void>;
    expect(isNotified(agent)).toBe(false);
    agent.content.declaring = undefined;
    expect(isNotified(agent)).toBe(true);
  });

  test('not while there is more to copy, for as long as MinLSInterval is worth it', () => {
    const busy = (changedAt: number, now: number): boolean => {
      const agent = ready(1);
      agent.content.areas.get(AREA)!.changedAt = changedAt;
      agent.content.interArea.queue.mark('10.0.0.0/24', 0);
      return isNotified(agent, now);
    };
    expect(busy(1000, 1000)).toBe(false);
    expect(busy(1000, 1000 + SETTLE_LIMIT_MS - 1)).toBe(false);
    expect(busy(1000, 1000 + SETTLE_LIMIT_MS)).toBe(true);
    expect(isNotified(ready(1), 1)).toBe(true);
  });
});
