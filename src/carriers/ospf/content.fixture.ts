// For tests: the content of several agents in one or more areas, in virtual time. Between them is one router an
// area, which lists every agent that is up; every LSA passes the real codecs and is with the others of its area a
// millisecond later. The core, which would move them, is not here.
import { type Declared, byKind, origination } from '../../model/advertisement.fixture.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import type { AreaTopology } from '../../model/topology.ts';
import { address, formatAddress } from '../../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import { DEFAULT_PRIVATE_TYPES, decodeLsa, encodeLsa } from '../../packet/ospf/lsa.ts';
import type { LsaBody } from '../../packet/ospf/lsa/types.ts';
import { OPTION_V3, type Version as AnyVersion } from '../../packet/ospf/numbers.ts';
import { formatId, lsaKeyText } from '../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import { LSA_CAPACITY } from './constants.ts';
import type { Content, ContentConfig, ContentEffect, ContentEvent } from './content-state.ts';
import { createContent, handleContent } from './content.ts';
import { contentWake } from './content-tasks.ts';
import type { OspfKind } from './kinds/kind.ts';
import type { OwnLsa } from './version.ts';

export type { AnyVersion };
export const END_CON = 0x8002;
export const PNC_BIT = 2;
/** Router ID of the router in the middle of an area. */
const hubOf = (areaId: number): number => 0x0a000000 + areaId;

export const contentConfig = (
  version: AnyVersion,
  routerId: number,
  areaIds: readonly number[],
  rest: Partial<ContentConfig> = {},
): ContentConfig => ({
  version,
  name: `ospfv${version}`,
  routerId,
  areas: areaIds.map((areaId) => ({ areaId, capacity: LSA_CAPACITY })),
  codePoints: DEFAULT_CODE_POINTS,
  privateTypes: DEFAULT_PRIVATE_TYPES,
  holdUnreachableMs: 120_000,
  ...rest,
});

/** A sender prefix and a proxy address of a version's family. */
export const senderPrefix = (version: AnyVersion, n: number): string =>
  version === 2 ? `10.${n >> 8}.${n & 255}.0/24` : `2001:db8:${n.toString(16)}::/48`;
export const proxyAddress = (version: AnyVersion, n: number): string =>
  version === 2 ? `192.0.2.${n}` : `2001:db8:ffff::${n.toString(16)}`;

export const declaration = (
  version: AnyVersion,
  prefixes: readonly number[],
  proxy = 1,
  rest: Declared = {},
): Origination =>
  origination({
    proxies: prefixes.map((n) => ({
      prefix: prefix(senderPrefix(version, n)),
      proxy: address(proxyAddress(version, proxy)),
    })),
    ...rest,
  });

/** An LSA as it comes from the database. */
export function encoded(
  version: AnyVersion,
  advertisingRouter: number,
  { type, lsId, body }: OwnLsa,
): { readonly key: LsaKey; readonly lsa: { readonly raw: Uint8Array } } {
  const key = { type, lsId, advertisingRouter };
  const lsa = decodeLsa(version, encodeLsa(version, { age: 1, options: 0, sequence: 1, ...key }, body));
  if (!lsa.ok) throw new Error(lsa.error.detail);
  return { key, lsa: lsa.value };
}

/** A Router-LSA with links to these routers. */
export function routerLsa(
  version: AnyVersion,
  routerId: number,
  neighbors: readonly number[],
  { transit = true } = {},
): OwnLsa {
  const body: LsaBody =
    version === 2
      ? {
          kind: 'router-v2',
          flags: 0,
          links: neighbors.map((linkId) => ({ type: 1, linkId, linkData: 0, metric: 1, tosMetrics: new Uint8Array() })),
        }
      : {
          kind: 'router-v3',
          flags: 0,
          options: transit ? OPTION_V3.v6 | OPTION_V3.router : OPTION_V3.v6,
          links: neighbors.map((neighborRouterId) => ({
            type: 1,
            metric: 1,
            interfaceId: 1,
            neighborInterfaceId: 1,
            neighborRouterId,
          })),
        };
  return { type: version === 2 ? 1 : 0x2001, lsId: version === 2 ? routerId : 0, body };
}

/** One content, and its effects. */
export class ContentAgent {
  readonly content: Content;
  readonly version: AnyVersion;
  readonly reports = new Map<string, LearnedReport>();
  readonly counters = new Map<string, number>();
  readonly advertised = new Map<number, readonly OwnLsa[]>();
  reachable: ReadonlySet<string> = new Set();
  /** Every report of the topology, the latest last. */
  readonly topologies: (readonly AreaTopology[])[] = [];
  now = 0;

  constructor(config: ContentConfig, rows?: readonly OspfKind[]) {
    this.content = createContent(config, rows);
    this.version = config.version;
  }

  event(event: ContentEvent): ContentEffect[] {
    const effects = handleContent(this.content, event, this.now);
    for (const effect of effects) this.note(effect);
    return effects;
  }

  /** Declares, and takes every turn that this makes due at once. */
  declares(origination: Origination): ContentEffect[] {
    const effects = this.event({ type: 'declare', origination });
    while (contentWake(this.content) === -Infinity) effects.push(...this.event({ type: 'timer' }));
    return effects;
  }

  /** Another router's LSA is there. */
  hears(areaId: number, router: number, lsa: OwnLsa): void {
    this.event({ type: 'database', areaId, ...encoded(this.version, router, lsa) });
  }

  /** It is gone. */
  loses(areaId: number, router: number, { type, lsId }: OwnLsa): void {
    this.event({ type: 'database', areaId, key: { type, lsId, advertisingRouter: router } });
  }

  /** Lets time pass until nothing is due any more within it. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let at = contentWake(this.content); at <= end; at = contentWake(this.content)) {
      this.now = Math.max(this.now, at);
      this.event({ type: 'timer' });
    }
    this.now = end;
  }

  count(name: string): number {
    return this.counters.get(`${this.content.config.name}.${name}`) ?? 0;
  }

  /**
   * What is learned of a prefix from routers that can be reached: `originator proxy`, with `-` where the flag is clear;
   * sorted.
   */
  learned(text: string): string[] {
    const found: string[] = [];
    for (const { originator, advertisements } of this.reports.values()) {
      if (!this.reachable.has(originator)) continue;
      for (const p of byKind(advertisements).prefixes)
        if (formatPrefix(p.prefix) === text)
          found.push(`${originator} ${p.pnc ? (p.proxy ? formatAddress(p.proxy) : 'none') : '-'}`);
    }
    return found.sort();
  }

  private note(effect: ContentEffect): void {
    if (effect.type === 'learned') this.reports.set(effect.report.source, effect.report);
    else if (effect.type === 'reachability') this.reachable = effect.reachable;
    else if (effect.type === 'topology') this.topologies.push(effect.areas);
    else if (effect.type === 'count') this.counters.set(effect.name, (this.counters.get(effect.name) ?? 0) + effect.by);
    else if (effect.type === 'originate') this.advertised.set(effect.areaId, effect.lsas);
  }
}

interface Member {
  readonly agent: ContentAgent;
  /** LSAs that the others of an area have from it: area → key → contents. */
  readonly flooded: Map<number, Map<string, { readonly own: OwnLsa; readonly hex: string }>>;
  up: boolean;
  /** How long what it sends takes to the others. */
  delay: number;
}

export class ContentNet {
  now = 0;
  private readonly version: AnyVersion;
  private readonly rows: readonly OspfKind[] | undefined;
  private readonly members: Member[] = [];
  private inFlight: { readonly at: number; readonly to: Member; readonly event: ContentEvent }[] = [];

  /** @param rows the kinds of advertisement that every agent has */
  constructor(version: AnyVersion, rows?: readonly OspfKind[]) {
    this.version = version;
    this.rows = rows;
  }

  /** @param joined areas in which it has a neighbor from the beginning */
  agent(
    routerId: number,
    areaIds: readonly number[],
    rest: Partial<ContentConfig> = {},
    joined = areaIds,
  ): ContentAgent {
    const member: Member = {
      agent: new ContentAgent(contentConfig(this.version, routerId, areaIds, rest), this.rows),
      flooded: new Map(),
      up: true,
      delay: 1,
    };
    this.members.push(member);
    for (const areaId of joined) this.join(member.agent, areaId);
    return member.agent;
  }

  join(agent: ContentAgent, areaId: number): void {
    const member = this.memberOf(agent);
    member.flooded.set(areaId, new Map());
    this.say(member, areaId, agent.advertised.get(areaId) ?? []);
    for (const other of this.members)
      for (const { own } of other === member ? [] : (other.flooded.get(areaId)?.values() ?? []))
        this.flood(member, areaId, other, own);
    this.hub(areaId);
    this.send(member, { type: 'adjacency', areaId, neighbor: hubOf(areaId) });
  }

  declare(agent: ContentAgent, origination: Origination): void {
    this.handle(this.memberOf(agent), { type: 'declare', origination });
  }

  /** Like an agent that has issued its LSAs a moment ago and must wait for MinLSInterval. */
  slow(agent: ContentAgent, ms: number): void {
    this.memberOf(agent).delay = ms;
  }

  /** As kill -9 does: its LSAs stay, and the routers beside it list it no more. */
  kill(agent: ContentAgent): void {
    const member = this.memberOf(agent);
    member.up = false;
    for (const areaId of member.flooded.keys()) this.hub(areaId);
  }

  /** A clean stop. */
  stop(agent: ContentAgent): void {
    const member = this.memberOf(agent);
    for (const [areaId, flooded] of member.flooded) {
      for (const { own } of flooded.values())
        this.broadcast(areaId, member, { type: own.type, lsId: own.lsId, advertisingRouter: this.id(member) });
      flooded.clear();
    }
    this.kill(agent);
  }

  /** Lets virtual time pass. */
  run(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const up = this.members.filter((member) => member.up);
      const next = Math.min(this.inFlight[0]?.at ?? Infinity, ...up.map(({ agent }) => contentWake(agent.content)));
      if (next > end) break;
      this.now = Math.max(this.now, next);
      const arrived = this.inFlight.filter(({ at }) => at <= this.now);
      this.inFlight = this.inFlight.filter(({ at }) => at > this.now);
      for (const { to, event } of arrived) this.handle(to, event);
      for (const member of up)
        if (contentWake(member.agent.content) <= this.now) this.handle(member, { type: 'timer' });
    }
    this.now = end;
  }

  private memberOf(agent: ContentAgent): Member {
    return this.members.find((member) => member.agent === agent)!;
  }

  private id(member: Member): number {
    return member.agent.content.config.routerId;
  }

  private handle(member: Member, event: ContentEvent): void {
    if (!member.up) return;
    member.agent.now = this.now;
    for (const effect of member.agent.event(event))
      if (effect.type === 'originate') this.say(member, effect.areaId, effect.lsas);
  }

  /** Floods what differs from what was flooded before. */
  private say(member: Member, areaId: number, lsas: readonly OwnLsa[]): void {
    const flooded = member.flooded.get(areaId);
    if (!flooded) return;
    const before = new Map(flooded);
    flooded.clear();
    for (const own of [routerLsa(this.version, this.id(member), [hubOf(areaId)], { transit: false }), ...lsas]) {
      const { key, lsa } = encoded(this.version, this.id(member), own);
      const hex = Buffer.from(lsa.raw).toString('hex');
      flooded.set(lsaKeyText(key), { own, hex });
      if (before.get(lsaKeyText(key))?.hex !== hex)
        for (const other of this.members)
          if (other !== member && other.flooded.has(areaId)) this.flood(other, areaId, member, own);
      before.delete(lsaKeyText(key));
    }
    for (const { own } of before.values())
      this.broadcast(areaId, member, { type: own.type, lsId: own.lsId, advertisingRouter: this.id(member) });
  }

  private broadcast(areaId: number, from: Member, key: LsaKey): void {
    for (const other of this.members)
      if (other !== from && other.flooded.has(areaId)) this.send(other, { type: 'database', areaId, key }, from.delay);
  }

  private flood(to: Member, areaId: number, from: Member, own: OwnLsa): void {
    this.send(to, { type: 'database', areaId, ...encoded(this.version, this.id(from), own) }, from.delay);
  }

  /** The Router-LSA of the router in the middle. */
  private hub(areaId: number): void {
    const listed = this.members
      .filter((member) => member.up && member.flooded.has(areaId))
      .map((member) => this.id(member));
    for (const member of this.members) {
      if (member.flooded.has(areaId))
        this.send(member, {
          type: 'database',
          areaId,
          ...encoded(this.version, hubOf(areaId), routerLsa(this.version, hubOf(areaId), listed)),
        });
    }
  }

  private send(to: Member, event: ContentEvent, delay = 1): void {
    this.inFlight.push({ at: this.now + delay, to, event });
    this.inFlight.sort((x, y) => x.at - y.at);
  }
}

export const named = (areaId: number, router: number): string => `${formatId(areaId)} ${formatId(router)}`;
