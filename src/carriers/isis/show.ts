// The speaker's state as the northbound shows it: text and plain numbers.
import type { IsisLspState, IsisNeighborState, IsisTrouble } from '../../model/carrier-state.ts';
import type { Level } from '../../packet/isis/types.ts';
import { type Moment, timestamp } from '../dependencies.ts';
import { isFull } from './lsdb/expansion.ts';
import { type StoredLsp, lifetimeOf } from './lsdb/lsdb.ts';
import { systemIdContested } from './own/own.ts';
import { entriesOf } from './own/placement.ts';
import type { LevelState, Speaker } from './state.ts';

export function neighborState(s: Speaker, interfaceName: string, moment: Moment): IsisNeighborState[] {
  const { adjacency } = s;
  if (!adjacency) return [];
  const levels = adjacency.levels.length > 0 ? adjacency.levels : s.config.levels;
  const hostname = hostnameIn(s, levels, adjacency.system);
  return [
    {
      interface: interfaceName,
      level: levels.length === 2 ? 'L1L2' : levels[0] === 1 ? 'L1' : 'L2',
      state: adjacency.state,
      systemId: adjacency.system,
      ...(hostname !== undefined && { hostname }),
      holdTimeRemaining:
        adjacency.state === 'down' ? 0 : Math.max(0, Math.ceil((adjacency.holdUntil - moment.now) / 1000)),
      since: timestamp(adjacency.since, moment),
      reason: adjacency.reason,
    },
  ];
}

/** Of a system, from its LSP (TLV 137); undefined: none is known. @param originator as in LearnedReport.originator */
export function hostnameOf(s: Speaker, originator: string): string | undefined {
  const [, level, system] = /^L([12]) (\S+)$/.exec(originator) ?? [];
  const levels = s.config.levels.filter((one) => String(one) === level);
  return system === undefined ? undefined : hostnameIn(s, levels, system);
}

const hostnameIn = (s: Speaker, levels: readonly Level[], system: string): string | undefined =>
  levels
    .map((level) => s.levels.get(level)!.lsdb.byKey.get(`${system}.00-00`)?.content.hostname)
    .find((name) => name !== undefined);

export function databaseState(s: Speaker, now: number): IsisLspState[] {
  return [...s.levels.values()].flatMap((level) =>
    level.lsdb.order.map((key) => lspState(level, level.lsdb.byKey.get(key)!, now)),
  );
}

function lspState(level: LevelState, lsp: StoredLsp, now: number): IsisLspState {
  return {
    level: level.level,
    lspId: lsp.key,
    sequence: lsp.sequence,
    lifetime: lifetimeOf(lsp, now),
    checksum: `0x${lsp.checksum.toString(16).padStart(4, '0')}`,
    length: lsp.raw.length,
    own: lsp.own,
    reachable: lsp.own || level.graph.reachable.has(lsp.system),
    overload: lsp.content.overload,
    proxyPrefixes: lsp.own ? ownPrefixes(level, lsp.fragment) : lsp.content.proxyPrefixes,
  };
}

function ownPrefixes({ own }: LevelState, number: number): number {
  const fragment = own.placement.fragments.get(number);
  return fragment ? entriesOf(fragment, 'sender-prefix').length : 0;
}

/**
 * The number of declared prefixes and SIDs (without those leaked from the other level) that do not fit into the LSP of
 * some level.
 */
export function unplacedPrefixes(s: Speaker): number {
  const keys = [...s.levels.values()].flatMap((level) => [...level.own.unplaced.keys()]);
  return new Set(keys.filter((key) => s.desired.has(key))).size;
}

/** One entry for each level, with or without trouble. */
export function troubleState(s: Speaker, moment: Moment): IsisTrouble[] {
  return [...s.levels.values()].map((level) => ({
    level: level.level,
    databaseFull: isFull(level, moment.now),
    systemIdContested: systemIdContested(level.own, moment.now),
    exhausted: [...level.own.fragments]
      .filter(([, { blockedUntil }]) => blockedUntil > moment.now)
      .map(([fragment, { blockedUntil }]) => ({ fragment, until: timestamp(blockedUntil, moment) }))
      .sort((a, b) => a.fragment - b.fragment),
  }));
}
