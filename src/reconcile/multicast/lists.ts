// Lists of branches in the maps of End.MT. A list never changes, so it is written once, its name last; packets find it
// by its name only. Those of an earlier run keep their numbers and their records: a restart disturbs no transfer.
import { readU32Key, u32Key } from '../../kernel/dataplane/layout.ts';
import { MULTICAST_LISTS, MULTICAST_SLOTS } from '../../kernel/dataplane/multicast.ts';
import {
  type MulticastBranch,
  type MulticastList,
  type MulticastRole,
  decodeMulticastBranch,
  decodeMulticastList,
  decodeMulticastListKey,
  decodeMulticastMemberKey,
  encodeMulticastBranch,
  encodeMulticastList,
  multicastListKey,
  multicastMemberKey,
  multicastStateIndex,
} from '../../kernel/dataplane/multicast-lists.ts';
import {
  decodeMulticastRecord,
  decodeMulticastState,
  listInUse,
  newMulticastRecord,
} from '../../kernel/dataplane/multicast-state.ts';
import { type IpAddress, formatAddress } from '../../model/address.ts';
import type { MulticastBranchPlan, MulticastListPlan } from '../../plan/multicast-plan.ts';
import type { Operations } from '../operations.ts';
import { BlockAllocator } from './block-allocator.ts';
import type { MulticastMaps } from './maps.ts';
import { DATA_FLOWS_MS, type Usage } from './usage.ts';

/** A list in the kernel. */
export interface InstalledList {
  /** As in the plan; for a list of an earlier run that was not planned yet, made of its key. */
  readonly id: string;
  /** Key of multicast_list_ids. */
  readonly key: Uint8Array;
  readonly number: number;
  readonly role: MulticastRole;
  readonly list: MulticastList;
}

interface ListTablesOptions {
  readonly groupNumber: (group: string) => number | undefined;
  readonly routerNumber: (sid: IpAddress) => number | undefined;
  /** Whether lists of an earlier run that are no longer desired may go. */
  readonly mayForget: () => boolean;
  readonly usage: Pick<Usage, 'of'>;
}

const text = (key: Uint8Array): string => Buffer.from(key).toString('hex');

export class ListTables implements Operations<MulticastListPlan> {
  readonly kind = 'multicast-list';
  readonly #maps: MulticastMaps;
  readonly #options: ListTablesOptions;
  readonly #numbers = new BlockAllocator(1, MULTICAST_LISTS);
  readonly #slots = new BlockAllocator(0, MULTICAST_SLOTS);
  /** By their key as text. */
  readonly #installed = new Map<string, InstalledList>();
  /** Plan's id → key as text. */
  readonly #keyOf = new Map<string, string>();
  /**
   * Lists that are gone, by number, but that a state still names: it would take another list with this number for its
   * own, and answers of one group for those of another.
   */
  readonly #held = new Map<number, MulticastList>();

  constructor(maps: MulticastMaps, options: ListTablesOptions) {
    this.#maps = maps;
    this.#options = options;
    for (const [key, value] of maps.listIds.entries()) this.#adopt(key, readU32Key(value));
    for (const [key, value] of maps.states.entries()) this.#hold(readU32Key(key), listInUse(value));
    this.#forgetHalfWritten();
  }

  /** The list that an earlier run has removed, and that this state still names. */
  #hold(state: number, number: number): void {
    const value = number === 0 ? undefined : this.#maps.lists.lookup(u32Key(number));
    const list = value && decodeMulticastList(value);
    if (!list || multicastStateIndex(list.group, list.role) !== state || !this.#numbers.take(number)) return;
    if (this.#slots.take(list.first, list.count)) this.#held.set(number, list);
    else this.#numbers.release(number);
  }

  /** A process that was killed may leave members of a list without a name; another list may get its number. */
  #forgetHalfWritten(): void {
    const numbers = new Set([...this.#installed.values()].map(({ number }) => number));
    const strays = [...this.#maps.members.keys()].filter((key) => !numbers.has(decodeMulticastMemberKey(key).list));
    for (const key of strays) this.#maps.members.delete(key);
  }

  /** Does not take a list whose numbers contradict those of another one: the next full pass removes it. */
  #adopt(key: Uint8Array, number: number): void {
    const value = this.#maps.lists.lookup(u32Key(number));
    const list = value && decodeMulticastList(value);
    if (!list || !this.#numbers.take(number)) return;
    if (!this.#slots.take(list.first, list.count)) return this.#numbers.release(number);
    const { role } = decodeMulticastListKey(key);
    this.#installed.set(text(key), { id: text(key), key, number, role, list });
  }

  /** All lists in the kernel that programs can find. */
  get installed(): readonly InstalledList[] {
    return [...this.#installed.values()];
  }

  /** Whether the kernel has the list of this group, role and digest. */
  has(group: string, role: MulticastRole, digest: Uint8Array): boolean {
    const number = this.#options.groupNumber(group);
    return number !== undefined && this.#installed.has(text(multicastListKey({ digest, group: number, role })));
  }

  update(plan: MulticastListPlan): void {
    const group = this.#options.groupNumber(plan.group);
    if (group === undefined) throw new Error(`the group ${plan.group} has no entry in the kernel`);
    const key = multicastListKey({ digest: plan.digest, group, role: plan.role });
    const name = text(key);
    const found = this.#installed.get(name);
    this.#keyOf.set(plan.id, name);
    if (found) {
      // A full pass writes the name again if another program has removed it. All else is in use: it is not touched.
      this.#maps.listIds.update(key, u32Key(found.number));
      this.#installed.set(name, { ...found, id: plan.id });
    } else this.#installed.set(name, this.#install(plan, key, group));
  }

  #install(plan: MulticastListPlan, key: Uint8Array, group: number): InstalledList {
    this.#releaseHeld((list) => list.group === group && list.role === plan.role);
    const parent = plan.parent === null ? 0 : this.#options.routerNumber(plan.parent);
    if (parent === undefined) throw new Error(`the parent ${formatAddress(plan.parent!)} is not a known router`);
    const number = this.#numbers.allocate();
    if (number === undefined)
      throw new Error(`the kernel's table of lists is full: ${MULTICAST_LISTS - 1} lists are possible`);
    const count = plan.branches.length;
    const first = this.#slots.allocate(count);
    if (first === undefined) {
      this.#numbers.release(number);
      throw new Error(
        `the kernel's table of branches has no room for ${count} in a row: ${this.#slots.free} of ` +
          `${MULTICAST_SLOTS} are free`,
      );
    }
    const hasLocal = plan.branches[0]?.kind === 'local';
    const list: MulticastList = { group, first, count, role: plan.role, hasLocal, parent };
    try {
      this.#write(plan, key, number, list);
    } catch (error) {
      this.#erase(key, number, list, plan.branches);
      throw error;
    }
    return { id: plan.id, key, number, role: plan.role, list };
  }

  /** In this order: whoever finds the name finds all the rest. */
  #write({ branches, role }: MulticastListPlan, key: Uint8Array, number: number, list: MulticastList): void {
    const joined = role === 'edge' ? this.#joinedReceivers(list.group) : new Set<string>();
    const slots = branches.map((branch, i) => [u32Key(list.first + i), branch] as const);
    this.#maps.records.updateBatch(
      slots.map(([slot, branch]) => [slot, newMulticastRecord(joined.has(receiverName(branchEntry(branch))))] as const),
    );
    this.#maps.branches.updateBatch(slots.map(([slot, branch]) => [slot, encodeMulticastBranch(branchEntry(branch))]));
    this.#maps.members.updateBatch(
      slots.flatMap(([slot, branch]) => {
        const { address } = branchEntry(branch);
        return address ? [[multicastMemberKey({ address, list: number }), slot] as const] : [];
      }),
    );
    this.#maps.lists.update(u32Key(number), encodeMulticastList(list));
    this.#maps.listIds.update(key, u32Key(number));
  }

  /** Receivers of the group that get packets already: a new list must not make them wait in the middle of a message. */
  #joinedReceivers(group: number): Set<string> {
    const state = this.#maps.states.lookup(u32Key(multicastStateIndex(group, 'edge')));
    const inUse = state && decodeMulticastState(state).current?.list;
    const value = inUse === undefined ? undefined : this.#maps.lists.lookup(u32Key(inUse));
    const joined = new Set<string>();
    const list = value && decodeMulticastList(value);
    // One that is gone may have left its number to a list of another group.
    if (list?.group !== group || list.role !== 'edge') return joined;
    for (const { branch, record } of this.branches(list)) if (record?.joined) joined.add(receiverName(branch));
    return joined;
  }

  /** What the kernel has of a list's branches. */
  branches(list: MulticastList) {
    return Array.from({ length: list.count }, (_, i) => {
      const slot = u32Key(list.first + i);
      const [branch, record] = [this.#maps.branches.lookup(slot), this.#maps.records.lookup(slot)];
      return {
        slot: list.first + i,
        branch: decodeMulticastBranch(branch ?? encodeMulticastBranch(branchEntry({ kind: 'local' }))),
        record: record && decodeMulticastRecord(record),
      };
    });
  }

  delete(id: string): void {
    const name = this.#keyOf.get(id);
    this.#keyOf.delete(id);
    if (name !== undefined) this.#remove(name);
  }

  #remove(name: string): void {
    const found = this.#installed.get(name);
    if (!found) return;
    this.#installed.delete(name);
    this.#erase(
      found.key,
      found.number,
      found.list,
      this.branches(found.list).map(({ branch }) => branch),
    );
  }

  #erase(
    key: Uint8Array,
    number: number,
    list: MulticastList,
    branches: readonly (MulticastBranch | MulticastBranchPlan)[],
  ): void {
    this.#maps.listIds.delete(key);
    for (const branch of branches) {
      const address = 'kind' in branch ? branchEntry(branch).address : branch.address;
      if (address) this.#maps.members.delete(multicastMemberKey({ address, list: number }));
    }
    this.#release(number, list);
  }

  #release(number: number, list: MulticastList): void {
    if (this.#options.usage.of(list.group, list.role)?.list === number) {
      this.#held.set(number, list);
      return;
    }
    this.#held.delete(number);
    this.#slots.release(list.first, list.count);
    this.#numbers.release(number);
  }

  /** Of the lists that are held, those that no state names any more. */
  #releaseHeld(isMeant: (list: MulticastList) => boolean): void {
    for (const [number, list] of [...this.#held]) if (isMeant(list)) this.#release(number, list);
  }

  /** Whether packets have come by this list lately: a root that is behind goes on with it. */
  isInUse(id: string): boolean {
    const found = this.#installed.get(this.#keyOf.get(id) ?? '');
    return found !== undefined && this.#isInUse(found);
  }

  #isInUse({ number, list }: InstalledList): boolean {
    const used = this.#options.usage.of(list.group, list.role);
    return used?.list === number && used.silentMs < DATA_FLOWS_MS;
  }

  *prune(desired: { has(id: string): boolean }): Generator<boolean> {
    this.#releaseHeld(() => true);
    if (!this.#options.mayForget()) return;
    const kept = new Set([...this.#keyOf].filter(([id]) => desired.has(id)).map(([, name]) => name));
    for (const [name, installed] of [...this.#installed]) {
      const isStray = !kept.has(name) && !this.#isInUse(installed);
      if (isStray) this.#remove(name);
      yield isStray;
    }
    // Names that were not adopted.
    for (const key of [...this.#maps.listIds.keys()])
      yield !this.#installed.has(text(key)) && this.#maps.listIds.delete(key);
  }

  verify(plan: MulticastListPlan): boolean {
    const found = this.#installed.get(this.#keyOf.get(plan.id) ?? '');
    const value = found && this.#maps.listIds.lookup(found.key);
    return value !== undefined && readU32Key(value) === found!.number;
  }
}

const receiverName = ({ address, qpn }: MulticastBranch): string => (address ? `${formatAddress(address)} ${qpn}` : '');

/** The branch as the programs read it. */
function branchEntry(branch: MulticastBranchPlan): MulticastBranch {
  const plain = { address: null, qpn: 0, psnDelta: 0, write: null, excluded: false };
  if (branch.kind === 'local') return plain;
  if (branch.kind === 'child') return { ...plain, address: branch.sid };
  const { address, qpn, psnDelta, write } = branch;
  return { ...plain, address, qpn, psnDelta, write: write ? { vaDelta: write.vaDelta, rKey: write.rKey } : null };
}
