// What the programs of End.MT cannot do by themselves, since it happens when no packet comes: closing windows of CNPs,
// noticing branches that stall, and what follows from packets that were too big (path-mtus.ts).
import { readU32Key, u32Key } from '../../kernel/dataplane/layout.ts';
import {
  type MulticastRole,
  decodeMulticastBranch,
  encodeMulticastBranch,
  multicastRoleOf,
  multicastStateIndex,
} from '../../kernel/dataplane/multicast-lists.ts';
import { type MulticastState, decodeMulticastState, labelOfEpoch } from '../../kernel/dataplane/multicast-state.ts';
import { formatAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import { messageOf } from '../../model/error-text.ts';
import type { Count, Log } from '../../model/log.ts';
import type { Problem } from '../../model/problem.ts';
import type { MulticastPlan } from '../../plan/multicast-plan.ts';
import type { InstalledList, ListTables } from './lists.ts';
import type { MulticastMaps } from './maps.ts';
import type { PathMtus } from './path-mtus.ts';
import { DATA_FLOWS_MS } from './usage.ts';

/** Pause between looks while no window is open, and while one is. Milliseconds. */
const IDLE_MS = 100;
const WINDOW_MS = 5;
const STALL_CHECK_MS = 500;
const PSN_HALF = 0x80_0000;

export interface HousekeepingOptions {
  readonly clock: Clock;
  readonly count: Count;
  readonly log: Log;
  readonly maps: Pick<MulticastMaps, 'states' | 'branches'>;
  readonly lists: Pick<ListTables, 'installed' | 'branches'>;
  /** Groups in the kernel: id and number. */
  readonly groups: () => Iterable<readonly [string, number]>;
  /** Runs the program that closes the window of one group state. @throws KernelError */
  readonly closeWindow: (state: number) => void;
  /** CLOCK_MONOTONIC. */
  readonly nowNs: () => bigint;
  readonly pathMtus: Pick<PathMtus, 'look'>;
}

interface Stall {
  readonly slot: number;
  readonly nextPsn: number;
  /** Milliseconds of the clock. */
  readonly since: number;
  readonly group: string;
  readonly role: MulticastRole;
  readonly name: string;
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #plan: MulticastPlan | undefined;
  #cancel: (() => void) | undefined;
  #stallsDue = 0;
  /** Branches behind what was sent to them, by branchKey: another list may get their slots. */
  #behind = new Map<string, Stall>();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Undefined: nothing to do. */
  follow(plan: MulticastPlan | undefined): void {
    this.#plan = plan;
    if (!plan || plan.groups.length === 0) return this.close();
    this.#cancel ??= this.#options.clock.after(IDLE_MS, () => this.#tick());
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#behind.clear();
  }

  stalledMs(list: InstalledList, slot: number): number | undefined {
    return this.#stalledMs(branchKey(list, slot));
  }

  #stalledMs(key: string): number | undefined {
    const stall = this.#behind.get(key);
    const ms = stall && this.#options.clock.now() - stall.since;
    return ms !== undefined && ms >= this.#plan!.stallMs ? ms : undefined;
  }

  problems(): Problem[] {
    return [...this.#behind].flatMap(([key, { group, role, name, nextPsn }]) => {
      const ms = this.#stalledMs(key);
      if (ms === undefined) return [];
      const what = role === 'edge' ? 'receiver' : 'branch';
      return {
        code: 'groups.branch-stalled' as const,
        feature: 'groups',
        problem:
          `group ${group}: ${what} ${name} has confirmed nothing${nextPsn < 0 ? '' : ` from PSN ${nextPsn} on`} for ` +
          `${Math.floor(ms / 1000)} s; ${this.#plan!.dropStalled ? 'it is left out' : 'the source waits for it'}`,
        remedy:
          role === 'edge'
            ? 'check the receiver; or remove it from the group'
            : `\`cnpctl show groups ${group} branches\` at that router shows for which receiver or branch it waits`,
      };
    });
  }

  #tick(): void {
    const { clock, count, log } = this.#options;
    let hasWindow = false;
    try {
      hasWindow = this.#look();
    } catch (error) {
      // Tried again at the next look.
      count('groups.sweep-failed');
      log.warn({ error: messageOf(error) }, 'cannot read the state of groups');
    }
    this.#cancel = clock.after(hasWindow ? WINDOW_MS : IDLE_MS, () => this.#tick());
  }

  /** Returns whether a window stays open. */
  #look(): boolean {
    const { clock, groups, maps, pathMtus } = this.#options;
    const now = clock.now();
    const names = new Map([...groups()].map(([id, number]) => [number, id]));
    pathMtus.look(this.#plan, names);
    const last = multicastStateIndex(Math.max(-1, ...names.keys()), 'branching');
    const windows = new Map(this.#plan?.groups.map((group) => [group.id, group.cnpWindowNs]));
    const looksForStalls = now >= this.#stallsDue;
    const active: { readonly group: string; readonly role: MulticastRole; readonly state: MulticastState }[] = [];
    let hasWindow = false;
    // Few calls of the kernel for many groups: their numbers are the lowest ones.
    for (const [key, value] of maps.states.entries()) {
      const index = readU32Key(key);
      if (index > last) break;
      const group = names.get(index >> 1);
      if (group === undefined || value.every((octet) => octet === 0)) continue;
      const [role, state] = [multicastRoleOf(index), decodeMulticastState(value)];
      if (this.#closeWindow(index, state, windows.get(group) ?? 0)) hasWindow = true;
      if (looksForStalls) active.push({ group, role, state });
    }
    if (looksForStalls) {
      this.#stallsDue = now + STALL_CHECK_MS;
      this.#lookForStalls(active);
    }
    return hasWindow;
  }

  /** Returns whether it is open, and not over yet. */
  #closeWindow(index: number, { windowNs }: MulticastState, lengthNs: number): boolean {
    if (windowNs === 0n) return false;
    if (this.#options.nowNs() - windowNs < BigInt(lengthNs)) return true;
    this.#options.closeWindow(index);
    return false;
  }

  #lookForStalls(active: readonly { group: string; role: MulticastRole; state: MulticastState }[]): void {
    const now = this.#options.clock.now();
    const byNumber = new Map(this.#options.lists.installed.map((installed) => [installed.number, installed]));
    const behind = new Map<string, Stall>();
    for (const { group, role, state } of active) {
      const list = state.current && byNumber.get(state.current.list);
      const isFlowing = this.#options.nowNs() - state.dataNs < BigInt(DATA_FLOWS_MS) * 1_000_000n;
      if (!list || !isFlowing || state.high?.label !== labelOfEpoch(state.current!.epoch)) continue;
      for (const { slot, name, nextPsn } of this.#behindIn(list, state)) {
        const key = branchKey(list, slot);
        const before = this.#behind.get(key);
        const since = before?.nextPsn === nextPsn ? before.since : now;
        behind.set(key, { slot, nextPsn, since, group, role, name });
      }
    }
    const before = this.#behind;
    this.#behind = behind;
    const stalled = new Set(
      [...behind].flatMap(([key, { slot }]) => (this.#stalledMs(key) === undefined ? [] : [slot])),
    );
    for (const slot of new Set([...before.values(), ...behind.values()].map(({ slot }) => slot)))
      this.#exclude(slot, stalled.has(slot));
  }

  /** Branches of a list that have not confirmed what was sent; an edge's receivers only once they get packets. */
  *#behindIn({ list, role }: InstalledList, { high, current }: MulticastState) {
    for (const { slot, branch, record } of this.#options.lists.branches(list)) {
      if (!record || (role === 'edge' && !record.joined)) continue;
      const isSet = record.progress?.label === labelOfEpoch(current!.epoch);
      const nextPsn = isSet ? record.progress!.value.nextPsn : -1;
      const missing = (high!.value - nextPsn) & 0xff_ffff;
      const name = branch.address ? formatAddress(branch.address) : 'of its own receivers';
      if (!isSet || (missing > 0 && missing < PSN_HALF)) yield { slot, name, nextPsn };
    }
  }

  #exclude(slot: number, isStalled: boolean): void {
    const { maps, count } = this.#options;
    const shall = this.#plan?.dropStalled === true && isStalled;
    const value = maps.branches.lookup(u32Key(slot));
    const changed = value && withExcluded(value, shall);
    if (!changed) return;
    maps.branches.update(u32Key(slot), changed);
    if (shall) count('groups.branch-excluded');
  }
}

const branchKey = ({ key }: InstalledList, slot: number): string => `${Buffer.from(key).toString('hex')} ${slot}`;

/** Undefined: it is so already. */
function withExcluded(value: Uint8Array, excluded: boolean): Uint8Array | undefined {
  const branch = decodeMulticastBranch(value);
  return branch.excluded === excluded ? undefined : encodeMulticastBranch({ ...branch, excluded });
}
