// What programs and agent know of a group, for state and for the sweeps. Reads are not atomic: a list of another epoch
// may come into use meanwhile.
import { u32Key } from '../../kernel/dataplane/layout.ts';
import {
  type MulticastRole,
  decodeMulticastListKey,
  multicastStateIndex,
} from '../../kernel/dataplane/multicast-lists.ts';
import {
  type Labeled,
  type MulticastRecord,
  type MulticastState,
  decodeMulticastState,
  labelOfEpoch,
} from '../../kernel/dataplane/multicast-state.ts';
import type { IpAddress } from '../../model/address.ts';
import type { BranchView, CurrentTreeView, GroupRoleView } from '../../model/group-view.ts';
import type { InstalledList, ListTables } from './lists.ts';
import type { MulticastMaps } from './maps.ts';

interface GroupViewSources {
  readonly maps: Pick<MulticastMaps, 'states'>;
  readonly lists: Pick<ListTables, 'installed' | 'branches'>;
  /** Groups of the kernel by number. */
  readonly groups: () => Iterable<readonly [string, number]>;
  readonly routerSid: (number: number) => IpAddress | undefined;
  readonly isRoot: (group: string) => boolean;
  /** Milliseconds for which the branch at this slot of the list has stalled; undefined: it has not. */
  readonly stalledMs: (list: InstalledList, slot: number) => number | undefined;
  readonly pathMtu: (group: string, role: MulticastRole) => number | undefined;
}

/** @param nowNs CLOCK_MONOTONIC */
export function* groupViews(sources: GroupViewSources, nowNs: bigint): Generator<GroupRoleView> {
  const byRole = new Map<string, InstalledList[]>();
  for (const installed of sources.lists.installed) {
    const key = `${installed.list.group} ${installed.role}`;
    byRole.set(key, [...(byRole.get(key) ?? []), installed]);
  }
  for (const [group, number] of sources.groups()) {
    for (const role of ['edge', 'branching'] as const) {
      const installed = byRole.get(`${number} ${role}`);
      const value = sources.maps.states.lookup(u32Key(multicastStateIndex(number, role)));
      if (!installed || !value) continue;
      yield roleView(sources, { group, role, installed, state: decodeMulticastState(value), nowNs });
    }
  }
}

interface Role {
  readonly group: string;
  readonly role: MulticastRole;
  readonly installed: readonly InstalledList[];
  readonly state: MulticastState;
  readonly nowNs: bigint;
}

function roleView(sources: GroupViewSources, { group, role, installed, state, nowNs }: Role): GroupRoleView {
  const list = installed.find(({ number }) => number === state.current?.list);
  const current = state.current && list ? currentTree(sources, list, state.current) : null;
  const ofEpoch = <T>(word: Labeled<T> | null): T | null =>
    word && current && word.label === labelOfEpoch(current.epoch) ? word.value : null;
  const shown = list ?? installed.at(-1)!;
  return {
    ...{ group, role, current, isRoot: role === 'branching' && sources.isRoot(group) },
    branches: sources.lists.branches(shown.list).map(({ slot, branch, record }) => ({
      ...progress(record, ofEpoch),
      ...{ kind: branch.address === null ? 'local' : role === 'edge' ? 'receiver' : 'child', address: branch.address },
      qpn: role === 'edge' ? branch.qpn : null,
      isWaiting: role === 'edge' && record?.joined === false,
      cnps: record?.cnps ?? 0n,
      copies: record?.copies ?? 0n,
      heardNs: record && record.heardNs !== 0n ? record.heardNs : null,
      stalledMs: sources.stalledMs(shown, slot) ?? null,
      isExcluded: branch.excluded,
    })),
    packets: state.packets,
    answers: state.answers,
    dataAgeMs: ageMs(state.dataNs, nowNs),
    nextDataPsn: ofEpoch(state.high),
    confirmedPsn: ofEpoch(state.sent)?.nextPsn ?? null,
    pathMtu: sources.pathMtu(group, role) ?? null,
  };
}

function currentTree(
  { routerSid }: GroupViewSources,
  { id, key }: InstalledList,
  current: NonNullable<MulticastState['current']>,
): CurrentTreeView {
  const digest = Buffer.from(decodeMulticastListKey(key).digest).toString('hex');
  return { epoch: current.epoch, list: id, digest, parent: routerSid(current.parent) ?? null };
}

function progress(
  record: MulticastRecord | undefined,
  ofEpoch: <T>(word: Labeled<T> | null) => T | null,
): Pick<BranchView, 'nextPsn' | 'msn' | 'nak'> {
  const confirmed = record ? ofEpoch(record.progress) : null;
  const nak = record ? ofEpoch(record.nak) : null;
  // A NAK lives while its PSN is the next one.
  const isLive = nak !== null && (confirmed === null || nak.psn === confirmed.nextPsn);
  return { nextPsn: confirmed?.nextPsn ?? null, msn: confirmed?.msn ?? null, nak: isLive ? nak : null };
}

const ageMs = (timeNs: bigint, nowNs: bigint): number | null =>
  timeNs === 0n ? null : Math.max(0, Number((nowNs - timeNs) / 1_000_000n));
