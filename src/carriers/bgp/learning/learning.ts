// What gobgpd has, made into reports for the learned table: one a prefix with `learn: best`, else one a path. Every
// prefix is reported, with a proxy or without (decision D5). When the connection is lost the table holds what it has;
// here it is kept too, and what is not reported again before the hold time is over is withdrawn: a gobgpd that has just
// started has no neighbors yet.
//
// Tables are large, so what is kept of a path is its prefix, as the text that the table has too, and a reading that it
// shares with others (reading.ts).
import { count, warnLimited } from '../../effects.ts';
import { addressBits, formatAddress, sameAddress } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import { type Prefix, prefix as parse, senderlessUse } from '../../../model/prefix.ts';
import { TextMap } from '../../../model/text-map.ts';
import { advance } from '../../../model/work.ts';
import { SLICE } from '../constants.ts';
import type { Content } from '../state.ts';
import type { ReadEntry } from '../kinds/kind.ts';
import type { BgpKinds } from '../kinds/table.ts';
import { distrustOf, memberAs } from './domain.ts';
import { type GobgpPath, type GobgpRoute, isOwn } from '../gobgp/gobgp.ts';
import type { Reading } from './reading.ts';
import type { Known, LearnState, Routes } from './state.ts';

export const listOf = (known: Known | undefined): readonly Reading[] =>
  known === undefined ? [] : 'peer' in known ? [known] : known;
const isUsed = ({ nhc }: Reading): boolean => nhc?.status === 'used';
const isHostPrefix = ({ address, length }: Prefix): boolean => length === addressBits(address.family);

/**
 * Unique in this carrier. The best path of a prefix may be another neighbor's tomorrow, and is the same source then.
 */
export const sourceOf = (c: Content, prefix: string, { peer, identifier }: Reading): string =>
  c.config.learn === 'best' ? prefix : `${prefix} ${peer} ${identifier}`;

/** Takes the place of whatever was known of the prefix. @param text the prefix as text */
export function routeReported(c: Content, text: string, { prefix, paths }: GobgpRoute): void {
  const { learning } = c;
  const after: Reading[] = [];
  for (const path of paths)
    if (!isOwn(path) && (c.config.learn === 'all' || path.best)) after.push(take(c, prefix, path));
  const before = remember(learning, text, after);
  replace(c, text, prefix, before, after);
  for (const reading of before) learning.readings.release(reading);
}

function take(c: Content, prefix: Prefix, path: GobgpPath): Reading {
  const { about } = c.session;
  const member = memberAs(path);
  if (member !== undefined && !c.learning.members.has(member))
    c.learning.members = new Set([...c.learning.members, member]);
  const isHostRoute = isHostPrefix(prefix) && sameAddress(prefix.address, path.nextHop);
  const hasSenders = senderlessUse(prefix) === undefined;
  return c.learning.readings.take(path, {
    isHostRoute,
    family: prefix.address.family,
    hasSenders,
    distrust: distrustOf(path, about?.as ?? 0, c.config.domain),
  });
}

function replace(
  c: Content,
  text: string,
  prefix: Prefix,
  before: readonly Reading[],
  after: readonly Reading[],
): void {
  const { learning } = c;
  for (const reading of before) {
    const source = sourceOf(c, text, reading);
    if (after.some((other) => sourceOf(c, text, other) === source)) continue;
    learning.since.delete(source);
    c.effects.push({
      type: 'learned',
      report: { carrier: 'bgp', source, originator: reading.nextHop, advertisements: [] },
    });
  }
  for (const reading of after) {
    if (!before.includes(reading)) {
      note(c, text, reading);
      report(c, text, prefix, reading);
    } else if (leansOnNextHop(c, reading)) report(c, text, prefix, reading);
  }
  if (isHostPrefix(prefix)) hostChanged(c, formatAddress(prefix.address), before, after);
}

/** A path has changed. */
function note(c: Content, text: string, reading: Reading): void {
  const source = sourceOf(c, text, reading);
  if (!reading.nhc) {
    c.learning.since.delete(source);
    return;
  }
  c.learning.since.set(source, Math.floor(c.now / 1000));
  const { warnings, status } = reading.nhc;
  for (const name of warnings)
    warnLimited(
      c,
      name,
      { prefix: text, peer: reading.peer, status },
      'a BGP path has characteristics that are not used',
    );
}

function report(c: Content, text: string, prefix: Prefix, reading: Reading): void {
  const { metric, best } = reading;
  const path = { prefix, metric, best };
  let advertisements: readonly LearnedAdvertisement[] = [];
  for (const { kind, received, viaNextHop } of c.kinds.rows) {
    const own = reading.entries.get(kind) ?? NONE;
    const entries =
      viaNextHop === 'never' || viaNextHop.suffices(own)
        ? own
        : viaNextHop.combined(own, entriesViaNextHop(c, reading, { kind, ...viaNextHop }));
    const learned = received.learned(entries, path);
    if (learned.length > 0) advertisements = advertisements.length === 0 ? learned : [...advertisements, ...learned];
  }
  const source = sourceOf(c, text, reading);
  c.effects.push({ type: 'learned', report: { carrier: 'bgp', source, originator: reading.nextHop, advertisements } });
}

const NONE: readonly ReadEntry[] = [];

/** Whether entries of its next hop's host route are the path's as well: not if it comes from outside the domain. */
const followsNextHop = ({ config }: Content, { trusted }: Reading): boolean => config.viaNextHop && trusted;

/** Its own entries of some kind do not suffice. */
const leansOnNextHop = (c: Content, reading: Reading): boolean =>
  followsNextHop(c, reading) &&
  c.kinds.viaNextHop.some(({ kind, suffices }) => !suffices(reading.entries.get(kind) ?? NONE));

function entriesViaNextHop(c: Content, reading: Reading, row: NextHopRow): readonly ReadEntry[] {
  if (!followsNextHop(c, reading)) return NONE;
  const { known, held } = c.learning;
  const routes = [known, ...held.map((h) => h.routes)].find((r) => r.has(reading.hostRoute));
  return firstEntries(listOf(routes?.get(reading.hostRoute)), row) ?? NONE;
}

type NextHopRow = BgpKinds['viaNextHop'][number];

/** Of a host route, for the paths through the host. The best path comes first. */
const firstEntries = (readings: readonly Reading[], { kind, suffices }: NextHopRow): readonly ReadEntry[] | undefined =>
  readings.map(({ entries }) => entries.get(kind)).find((entries) => entries !== undefined && suffices(entries));

function hostChanged(c: Content, address: string, before: readonly Reading[], after: readonly Reading[]): void {
  if (!c.config.viaNextHop) return;
  const isSame = (row: NextHopRow): boolean => {
    const [was, is] = [firstEntries(before, row), firstEntries(after, row)];
    return was === is || (was !== undefined && is !== undefined && row.same(was, is));
  };
  if (!c.kinds.viaNextHop.every(isSame)) c.learning.hostsChanged.add(address);
}

/** @returns what was known of the prefix, or held; its readings are still to be released */
function remember(s: LearnState, text: string, readings: readonly Reading[]): readonly Reading[] {
  const known = s.known.get(text);
  const before = known === undefined ? takeHeld(s, text) : listOf(known);
  for (const { nextHop } of readings) {
    const uses = s.originators.get(nextHop) ?? 0;
    if (uses === 0) s.originatorsChanged = true;
    s.originators.set(nextHop, uses + 1);
  }
  if (known !== undefined) for (const { nextHop } of before) leaveOriginator(s, nextHop);
  // An entry that stays keeps its text, which the learned table has too.
  if (readings.length > 0) s.known.set(text, readings.length === 1 ? readings[0]! : readings);
  else s.known.delete(text);
  tally(s, readings, 1);
  tally(s, before, -1);
  return before;
}

function leaveOriginator({ originators }: LearnState, nextHop: string): void {
  const uses = originators.get(nextHop)! - 1;
  if (uses > 0) originators.set(nextHop, uses);
  else originators.delete(nextHop);
}

function takeHeld(s: LearnState, text: string): readonly Reading[] {
  for (const { routes } of s.held) {
    const readings = listOf(routes.get(text));
    if (routes.delete(text)) return readings;
  }
  return [];
}

function tally(s: LearnState, readings: readonly Reading[], sign: 1 | -1): void {
  s.paths += sign * readings.length;
  for (const reading of readings) if (isUsed(reading)) s.used += sign;
}

/**
 * Reports which next hops count, when some are new; before the reports that need them. What is not listed is not
 * counted any more either way.
 */
export function emitReachability(c: Content): void {
  const { learning } = c;
  if (!learning.originatorsChanged) return;
  learning.originatorsChanged = false;
  c.effects.push({ type: 'reachability', reachable: new Set(learning.originators.keys()) });
}

/** The connection is lost. */
export function holdAll(c: Content): void {
  const { learning } = c;
  if (learning.known.size === 0) return;
  learning.held.push({ until: c.now + c.config.holdUnreachableMs, routes: learning.known });
  learning.known = new TextMap();
  learning.originators.clear();
  learning.originatorsChanged = false;
  c.effects.push({ type: 'reachability', reachable: new Set() });
}

/** One slice of what is left over. */
export function runLearning(c: Content): void {
  const { learning } = c;
  if (!learning.dropping && (learning.held[0]?.until ?? Infinity) <= c.now)
    learning.dropping = drop(c, learning.held[0]!.routes);
  if (learning.dropping && advance(learning.dropping, SLICE)) {
    learning.dropping = undefined;
    learning.held.shift();
  }
  if (!learning.again && readyToReport(c)) {
    learning.again = reportAgain(c, new Set(learning.hostsChanged));
    learning.hostsChanged.clear();
  }
  if (learning.again && advance(learning.again, SLICE)) learning.again = undefined;
}

/** While gobgpd lists what it has, host prefixes come one after another: the rest is looked at once, at the end. */
const readyToReport = ({ learning, session }: Content): boolean =>
  learning.hostsChanged.size > 0 && session.state !== 'loading';

export function learnWake(c: Content): number {
  const { learning } = c;
  if (learning.again || learning.dropping || readyToReport(c)) return -Infinity;
  return learning.held[0]?.until ?? Infinity;
}

function* drop(c: Content, routes: Routes): Generator<void> {
  for (const [text, known] of routes) {
    const readings = listOf(known);
    count(c, 'learn.dropped', readings.length);
    routes.delete(text);
    tally(c.learning, readings, -1);
    replace(c, text, parse(text), readings, []);
    for (const reading of readings) c.learning.readings.release(reading);
    yield;
  }
}

function* reportAgain(c: Content, nextHops: ReadonlySet<string>): Generator<void> {
  for (const routes of [c.learning.known, ...c.learning.held.map((h) => h.routes)]) {
    for (const [text, known] of routes) {
      for (const reading of listOf(known)) {
        if (nextHops.has(reading.nextHop) && leansOnNextHop(c, reading)) report(c, text, parse(text), reading);
      }
      yield;
    }
  }
}
