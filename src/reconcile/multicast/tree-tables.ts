// Groups, routers and lists in the maps of End.MT. A list, and whatever it refers to, stays for a while after it has
// left the plan: packets of its tree may still be on their way. It stays longer while packets come by it (usage.ts).
import type { MulticastGroupPlan, MulticastListPlan, MulticastPlan } from '../../plan/multicast-plan.ts';
import { Lingering } from './lingering.ts';
import { ListTables } from './lists.ts';
import type { MulticastMaps } from './maps.ts';
import { GroupNumbers, RouterNumbers, type RouterPlan } from './numbers.ts';
import { DATA_FLOWS_MS, Usage } from './usage.ts';

/** Other routers use the lists of a tree at least this long after it is obsolete. */
const LISTS_LINGER_MS = 10_000;
/** What lists refer to stays longer than they. */
const OTHERS_LINGER_MS = 12_000;

export interface TreeTablesOptions {
  /** Whether what an earlier run used and is no longer planned may go. */
  readonly mayForget: () => boolean;
  /** CLOCK_MONOTONIC. */
  readonly nowNs: () => bigint;
}

export class TreeTables {
  readonly groups: GroupNumbers;
  readonly routers: RouterNumbers;
  readonly lists: ListTables;
  readonly #usage: Usage;
  readonly #lingering = {
    lists: new Lingering<MulticastListPlan>(LISTS_LINGER_MS),
    groups: new Lingering<MulticastGroupPlan>(OTHERS_LINGER_MS),
    routers: new Lingering<RouterPlan>(OTHERS_LINGER_MS),
  };

  constructor(maps: MulticastMaps, { mayForget, nowNs }: TreeTablesOptions) {
    this.#usage = new Usage(maps, nowNs);
    this.groups = new GroupNumbers(maps, { mayForget, inUse: () => (number) => this.#isGroupInUse(number) });
    this.routers = new RouterNumbers(maps, { mayForget, inUse: () => this.#parents() });
    this.lists = new ListTables(maps, {
      ...{ mayForget, usage: this.#usage },
      groupNumber: (group) => this.groups.numberOf(group),
      routerNumber: (sid) => this.routers.numberOf(sid),
    });
  }

  /** What is to be in the maps. `now`: milliseconds. @throws KernelError when states cannot be read */
  update(plan: MulticastPlan | undefined, now: number): Pick<MulticastPlan, 'routers' | 'groups' | 'lists'> {
    const { lists, groups, routers } = this.#lingering;
    let isParent: ((router: number) => boolean) | undefined;
    const isRouterInUse = ({ sid }: RouterPlan): boolean => {
      const number = this.routers.numberOf(sid);
      return number !== undefined && (isParent ??= this.#parents())(number);
    };
    return {
      routers: routers.update(plan?.routers ?? [], now, isRouterInUse),
      groups: groups.update(plan?.groups ?? [], now, ({ id }) => this.#isGroupInUse(this.groups.numberOf(id))),
      lists: lists.update(plan?.lists ?? [], now, ({ id }) => this.lists.isInUse(id)),
    };
  }

  /** Earliest times at which update() must be called again. */
  get due(): readonly (number | undefined)[] {
    return Object.values(this.#lingering).map(({ due }) => due);
  }

  /** Groups of which packets have come, or were sent, lately. @throws KernelError when states cannot be read */
  transfers(): string[] {
    const found = [...this.groups.all()].filter(([, number]) => this.#usage.lately(number, DATA_FLOWS_MS).length > 0);
    return found.map(([id]) => id);
  }

  #isGroupInUse(number: number | undefined): boolean {
    return number !== undefined && this.#usage.lately(number, OTHERS_LINGER_MS).length > 0;
  }

  /** Whether packets of a group come from a router, to which their answers go. Reads the states of all groups. */
  #parents(): (router: number) => boolean {
    const used = new Set<number>();
    for (const [, group] of this.groups.all())
      for (const { parent } of this.#usage.lately(group, OTHERS_LINGER_MS)) used.add(parent);
    return (router) => used.has(router);
  }
}
