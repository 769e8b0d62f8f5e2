// For tests: a content with a gobgpd of few words beside it. Time passes when a test says so; slices run until nothing
// is left over.
import { type Declared, byKind, origination } from '../../model/advertisement.fixture.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import { type CodePointValues, DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { type IpAddress, address, formatAddress } from '../../model/address.ts';
import { type Prefix, formatPrefix, prefix } from '../../model/prefix.ts';
import { type Characteristic, encodeNhc } from '../../packet/bgp/nhc.ts';
import {
  type CharacteristicCodes,
  pncCharacteristic,
  privateCharacteristic,
} from '../../packet/bgp/characteristics.ts';
import type { Content, ContentConfig, ContentEffect, ContentEvent } from './state.ts';
import type { Moment } from '../dependencies.ts';
import { createContent, handleContent } from './content.ts';
import { contentWake } from './tasks.ts';
import { type GobgpAbout, type GobgpPath, type GobgpRoute, OWN_IDENTIFIER, type OwnPath } from './gobgp/gobgp.ts';
import type { BgpPathState, BgpSessionState } from '../../model/carrier-state.ts';
import type { GobgpFault } from '../../model/gobgp-fault.ts';
import type { BgpKinds } from './kinds/table.ts';
import type { OwnChanges } from './own/state.ts';
import { pathStates, sessionState } from './show.ts';

export const END_CON = 0x8002;
export const CODES: CharacteristicCodes = { pnc: 65500, private: 65501, supports: 65502 };
export const CODE_POINTS: CodePointValues = {
  ...DEFAULT_CODE_POINTS,
  'bgp-pnc-characteristic': CODES.pnc,
  'bgp-private-characteristic': CODES.private,
  'end-con-behavior': END_CON,
};
export const AS = 65001;
export const ABOUT: GobgpAbout = { api: 'v3', as: AS, routerId: '192.0.2.1' };
export const HOLD_MS = 120_000;
/** Of an unknown cause. */
export const because = (reason: string): GobgpFault => ({ code: 'other', reason });
/** No test takes so many turns: a content that asks for more would go on for ever. */
const NEVER = 10_000;

export const config = (rest: Partial<ContentConfig> = {}): ContentConfig => ({
  nextHop4: address('192.0.2.1'),
  nextHop6: address('2001:db8::1'),
  advertise: 'senders',
  communities: [],
  largeCommunities: [],
  domain: new Set(),
  confederation: new Set(),
  learn: 'best',
  viaNextHop: false,
  holdUnreachableMs: HOLD_MS,
  codePoints: CODE_POINTS,
  ...rest,
});

export const declaration = (pairs: Readonly<Record<string, string>>, rest: Declared = {}): Origination =>
  origination({
    proxies: Object.entries(pairs).map(([p, proxy]) => ({ prefix: prefix(p), proxy: address(proxy) })),
    ...rest,
  });

/** Value of attribute 39 for a next hop. */
export function nhc(nextHop: string, ...characteristics: readonly Characteristic[]): Uint8Array {
  const hop = address(nextHop);
  return encodeNhc({ afi: hop.family === 4 ? 1 : 2, safi: 1, nextHop: hop, characteristics });
}
export const pnc = (proxy: string): Characteristic => pncCharacteristic(CODES.pnc, address(proxy));
export const container = (...sids: readonly string[]): Characteristic =>
  privateCharacteristic(
    CODES.private,
    sids.map((sid) => ({
      tlv: 'sid',
      sid: address(sid),
      locator: prefix(`${formatAddress(maskTo48(address(sid)))}/48`),
      behavior: END_CON,
    })),
  );
const maskTo48 = ({ value }: IpAddress): IpAddress => ({ family: 6, value: (value >> 80n) << 80n });

export const path = (nextHop: string, rest: Partial<GobgpPath> = {}): GobgpPath => ({
  identifier: 0,
  neighbor: '2001:db8::ffff',
  neighborAs: AS,
  nextHop: address(nextHop),
  asPath: [],
  med: 0,
  best: true,
  ...rest,
});
export const route = (text: string, ...paths: readonly GobgpPath[]): GobgpRoute => ({ prefix: prefix(text), paths });

/** A path of cnpd's own as gobgpd reports it. */
export const ownAsReported = ({ nextHop, nhc: bytes }: OwnPath): GobgpPath => ({
  ...path('::1'),
  neighbor: undefined,
  identifier: OWN_IDENTIFIER,
  nextHop,
  nhc: bytes,
});

/** What `show bgp paths` shows. */
export const shown = (content: Content, moment: Moment): BgpPathState[] =>
  [...pathStates(content, moment)].flatMap((rows) => rows);

/** What `show bgp session` shows. */
export const sessionOf = ({ content, now }: Agent): BgpSessionState =>
  sessionState(content, 'unix:/x', { now, toWall: 0 }, { policy: { state: 'installed' }, silentMs: 0 });

export class Agent {
  readonly content: Content;
  readonly reports = new Map<string, LearnedReport>();
  readonly counters = new Map<string, number>();
  readonly logged: string[] = [];
  readonly effects: ContentEffect[] = [];
  /** Changes that gobgpd has not answered yet. */
  changes: OwnChanges | undefined;
  /** Prefixes that gobgpd is asked about, and has not answered yet. */
  looks: readonly Prefix[] | undefined;
  /** gobgpd takes paths of these without an error, and does not have them. */
  readonly drops = new Set<string>();
  /** Own paths that gobgpd has. */
  readonly gobgpd = new Map<string, OwnPath>();
  reachable: ReadonlySet<string> = new Set();
  stopped: boolean | undefined;
  now = 10_000;
  /** Whether gobgpd reports what it was given by itself. */
  echoes = true;

  constructor(rest: Partial<ContentConfig> = {}, kinds?: BgpKinds) {
    this.content = createContent(config(rest), this.now, kinds);
  }

  event(event: ContentEvent): void {
    for (const effect of handleContent(this.content, event, this.now)) this.note(effect);
  }

  /** Works off what is left over. @returns turns that it took */
  settle(): number {
    let turns = 0;
    for (; contentWake(this.content) <= this.now; turns++) {
      if (turns > NEVER) throw new Error('work without an end');
      this.event({ type: 'timer' });
    }
    return turns;
  }

  declare(origination: Origination): void {
    this.event({ type: 'declare', origination });
    this.settle();
  }

  /** gobgpd is found and lists this, and what it has of ours. */
  connect(...routes: readonly GobgpRoute[]): void {
    this.event({ type: 'connected', about: ABOUT });
    this.event({
      type: 'routes',
      routes: [...routes, ...[...this.gobgpd].map(([text, own]) => route(text, ownAsReported(own)))],
    });
    this.event({ type: 'listed' });
    this.settle();
  }

  report(...routes: readonly GobgpRoute[]): void {
    this.event({ type: 'routes', routes });
    this.settle();
  }

  lose(): void {
    this.event({ type: 'lost', fault: because('gone'), retryAt: this.now + 1000 });
    this.settle();
  }

  /**
   * gobgpd does what it was asked for, until nothing more comes; or refuses, once.
   * @returns what it was asked for, as text
   */
  answer(failure?: string): string[] {
    const asked: string[] = [];
    for (let times = 0; this.changes; times++) {
      if (times > NEVER) throw new Error('changes without an end');
      let echo: GobgpRoute[] = [];
      const { changes } = this;
      this.changes = undefined;
      asked.push(
        ...changes.add.map((own) => `+${formatPrefix(own.prefix)}`),
        ...changes.withdraw.map((p) => `-${formatPrefix(p)}`),
      );
      if (failure === undefined) {
        const added = changes.add.filter((own) => !this.drops.has(formatPrefix(own.prefix)));
        for (const own of added) this.gobgpd.set(formatPrefix(own.prefix), own);
        for (const p of changes.withdraw) this.gobgpd.delete(formatPrefix(p));
        if (this.echoes) echo = added.map((own) => route(formatPrefix(own.prefix), ownAsReported(own)));
      }
      const refusal = failure === undefined ? {} : { failure: because(failure) };
      this.event({ type: 'done', changes, ...refusal });
      if (failure !== undefined) break;
      if (echo.length > 0) this.event({ type: 'routes', routes: echo });
      this.settle();
    }
    return asked.sort();
  }

  /** gobgpd reports what it has of what it is asked about. @returns that, as text; undefined: it was not asked */
  lookUp(failure?: string): string[] | undefined {
    const { looks } = this;
    if (!looks) return undefined;
    this.looks = undefined;
    const texts = looks.map(formatPrefix);
    if (failure === undefined) this.event({ type: 'routes', routes: texts.map((text) => this.reported(text)) });
    this.event({ type: 'looked', prefixes: looks, ...(failure !== undefined && { failure: because(failure) }) });
    this.settle();
    return texts.sort();
  }

  private reported(text: string): GobgpRoute {
    const own = this.gobgpd.get(text);
    return route(text, ...(own ? [ownAsReported(own)] : []));
  }

  /** Lets time pass until nothing is due any more within it. */
  pass(ms: number): void {
    const end = this.now + ms;
    let turns = 0;
    for (let at = contentWake(this.content); at <= end; at = contentWake(this.content)) {
      if (++turns > NEVER) throw new Error('timers without an end');
      this.now = Math.max(this.now, at);
      this.event({ type: 'timer' });
    }
    this.now = end;
  }

  count(name: string): number {
    return this.counters.get(`bgp.${name}`) ?? 0;
  }

  /** `source originator proxy metric`, with `-` for no proxy; of originators that can be reached. */
  learned(): string[] {
    const rows = [...this.reports.values()].filter(({ originator }) => this.reachable.has(originator));
    return rows
      .flatMap(({ source, originator, advertisements }) =>
        byKind(advertisements).prefixes.map(
          (p) => `${source} ${originator} ${p.proxy ? formatAddress(p.proxy) : '-'} ${p.metric}`,
        ),
      )
      .sort();
  }

  private note(effect: ContentEffect): void {
    this.effects.push(effect);
    if (effect.type === 'learned') {
      const { report } = effect;
      if (report.advertisements.length > 0) this.reports.set(report.source, report);
      else if (!this.reports.delete(report.source)) throw new Error(`withdrawn, but never reported: ${report.source}`);
    } else if (effect.type === 'reachability') this.reachable = effect.reachable;
    else if (effect.type === 'count') this.counters.set(effect.name, (this.counters.get(effect.name) ?? 0) + effect.by);
    else if (effect.type === 'log') this.logged.push(effect.message);
    else if (effect.type === 'stopped') this.stopped = effect.clean;
    else if (effect.type === 'look') this.looks = effect.prefixes;
    else if (effect.type === 'change') {
      if (this.changes) throw new Error('changes before the last were answered');
      this.changes = effect.changes;
    } else throw new Error(`no effect: ${JSON.stringify(effect satisfies never)}`);
  }
}

/** Beside a gobgpd that has taken all of these, drops some, and reports the others by itself or not. */
export function given(prefixes: readonly string[], { echoes = true, drops = [] as readonly string[] } = {}): Agent {
  const agent = new Agent();
  agent.echoes = echoes;
  for (const text of drops) agent.drops.add(text);
  agent.declare(declaration(Object.fromEntries(prefixes.map((text) => [text, '192.0.2.1']))));
  agent.connect();
  agent.answer();
  return agent;
}

/** Sources that are reported to the learned table while this is done, with the proxy. */
export function reported(agent: Agent, what: () => void): string[] {
  const from = agent.effects.length;
  what();
  return agent.effects.slice(from).flatMap((effect) =>
    effect.type === 'learned'
      ? [
          `${effect.report.source} ${byKind(effect.report.advertisements)
            .prefixes.map(({ proxy }) => (proxy ? formatAddress(proxy) : '-'))
            .join()}`,
        ]
      : [],
  );
}
