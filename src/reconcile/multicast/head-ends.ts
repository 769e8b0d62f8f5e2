// When a root changes to another tree, and with which epoch (decision "Groups"). Nodes install the lists of a new tree
// as soon as they have computed them. The root uses it only a settle time later, with the next epoch. After a restart
// it goes on with the tree and the epoch of the kernel's route. A stream that begins anew, with the same Queue Pairs at
// other PSNs, is the next epoch of the same tree, at once: the lists are there.
import { randomInt } from 'node:crypto';
import { IPV6_HEADER, IPV6_LEAST_MTU } from '../../packet/ip/ipv6.ts';
import { MAX_EPOCH, encodeTreeSrh, treeOfSrh, withEpoch } from '../../packet/srv6/tree-srh.ts';
import type { TreeTlv } from '../../packet/srv6/tree-tlv.ts';
import type { HeadEndPlan, MulticastPlan } from '../../plan/multicast-plan.ts';
import type { HeadEndRoute } from './head-end-routes.ts';

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
type Digests = Pick<TreeTlv, 'membersDigest' | 'treeDigest'>;
const sameTree = (a: Digests, b: Digests): boolean =>
  sameBytes(a.membersDigest, b.membersDigest) && sameBytes(a.treeDigest, b.treeDigest);

const after = (epoch: number): number => (epoch + 1) & MAX_EPOCH;

/** The epoch of a tree. `before`: what is in use; undefined: nothing, and `random` decides. */
export const epochFor = (tree: Digests, before: TreeTlv | undefined, random: () => number): number =>
  before === undefined ? random() : sameTree(tree, before) ? before.epoch : after(before.epoch);

/**
 * The header of packets to a group, and the octets that are left for those of the source. End.MT TLVs are left out when
 * the source could not send packets of 1280 octets otherwise; edges then know the receivers from membership (RMC-8-f).
 * @param pathMtu octets from the root to every other node of the tree
 */
export function encapsulation(
  plan: HeadEndPlan,
  epoch: number,
  { types, pathMtu }: { readonly types: Pick<MulticastPlan, 'endMtTlv' | 'treeTlv'>; readonly pathMtu: number },
): { readonly srh: Uint8Array; readonly mtu: number } {
  const left = (srh: Uint8Array): number => Math.min(plan.mtu, pathMtu) - IPV6_HEADER - srh.length;
  const full = encodeTreeSrh({ ...plan, epoch }, types);
  const srh = left(full) < IPV6_LEAST_MTU ? encodeTreeSrh({ ...plan, epoch, endMtTlvs: [] }, types) : full;
  return { srh, mtu: Math.max(IPV6_LEAST_MTU, left(srh)) };
}

interface HeadEnd {
  /** The tree in use. Its plan is undefined if it is that of an earlier run, which this one has not planned yet. */
  readonly inUse: { readonly name: TreeTlv; readonly plan: HeadEndPlan | undefined; readonly route: HeadEndRoute };
}

interface Waiting {
  readonly plan: HeadEndPlan;
  readonly due: number;
}

interface HeadEndsOptions {
  /** Routes of an earlier run. */
  readonly found: readonly HeadEndRoute[];
  /** Whether the kernel has the lists of this tree that are this router's part. */
  readonly isInstalled: (plan: HeadEndPlan) => boolean;
  /** Octets, by the Proxy Address as text; undefined: not less than planned. */
  readonly pathMtu: (group: string) => number | undefined;
  /** 20 bits. */
  readonly random?: () => number;
}

/** Without side effects: a later call of update() takes what is due. Times are milliseconds. */
export class HeadEnds {
  readonly #options: HeadEndsOptions;
  readonly #random: () => number;
  readonly #heads = new Map<string, HeadEnd>();
  readonly #waiting = new Map<string, Waiting>();
  /** The last epochs of groups whose head end is gone: routers may still remember them. */
  readonly #gone = new Map<string, TreeTlv>();
  /** Routes of an earlier run that no plan has named yet, by Proxy Address. */
  readonly #adopted = new Map<string, HeadEndRoute>();

  constructor(options: HeadEndsOptions) {
    this.#options = options;
    this.#random = options.random ?? (() => randomInt(MAX_EPOCH + 1));
    for (const route of options.found) this.#adopted.set(route.id, route);
  }

  /**
   * The routes that are to be in the kernel at `now`. `mayForget`: what an earlier run used and is no longer planned
   * may go; the network has had the time to advertise everything again.
   */
  update(plan: MulticastPlan | undefined, now: number, mayForget: boolean): readonly HeadEndRoute[] {
    const planned = new Map((plan?.headEnds ?? []).map((headEnd) => [headEnd.id, headEnd]));
    for (const [id, { inUse }] of this.#heads) {
      if (planned.has(id) || (inUse.plan === undefined && !mayForget)) continue;
      this.#heads.delete(id);
      this.#gone.set(id, inUse.name);
    }
    for (const id of this.#waiting.keys()) if (!planned.has(id)) this.#waiting.delete(id);
    if (plan) {
      this.#adopt(plan);
      for (const headEnd of planned.values()) this.#change(headEnd, plan, now, mayForget);
    }
    if (mayForget) this.#adopted.clear();
    // Until a plan says which TLV names the tree, routes of an earlier run stay as they are.
    return [...[...this.#heads.values()].map(({ inUse }) => inUse.route), ...this.#adopted.values()];
  }

  /**
   * The source's stream begins anew: the next update() has the next epoch. False: no packet of this group enters a tree
   * here, nor is about to.
   */
  restart(group: string): boolean {
    const head = this.#heads.get(group);
    // One that is about to be made begins with an epoch of its own.
    if (!head) return this.#waiting.has(group);
    const { name, plan, route } = head.inUse;
    const epoch = after(name.epoch);
    const srh = Buffer.from(withEpoch(new Uint8Array(Buffer.from(route.srh, 'hex')), epoch)).toString('hex');
    this.#heads.set(group, { inUse: { name: { ...name, epoch }, plan, route: { ...route, srh } } });
    return true;
  }

  /** When update() must be called again; undefined: not before something changes. */
  get due(): number | undefined {
    return this.#waiting.size === 0 ? undefined : Math.min(...[...this.#waiting.values()].map(({ due }) => due));
  }

  /** The name of the tree in use. */
  inUse(group: string): TreeTlv | undefined {
    return this.#heads.get(group)?.inUse.name;
  }

  #adopt({ treeTlv }: MulticastPlan): void {
    for (const [id, route] of this.#adopted) {
      const name = treeOfSrh(new Uint8Array(Buffer.from(route.srh, 'hex')), treeTlv);
      // Another code point: no router knows the tree any more.
      if (name) this.#heads.set(id, { inUse: { name, plan: undefined, route } });
      this.#adopted.delete(id);
    }
  }

  #change(headEnd: HeadEndPlan, plan: MulticastPlan, now: number, mayForget: boolean): void {
    const { id } = headEnd;
    const inUse = this.#heads.get(id)?.inUse;
    if (inUse && sameTree(headEnd, inUse.name)) {
      this.#waiting.delete(id);
      return this.#use(headEnd, inUse.name.epoch, plan);
    }
    // A router that has just started knows only a part of the tree.
    if (inUse && inUse.plan === undefined && !mayForget) return;
    const waiting = this.#waiting.get(id);
    const isSame = waiting !== undefined && sameTree(waiting.plan, headEnd);
    const due = isSame ? waiting.due : now + plan.settleMs;
    if (due > now || !this.#options.isInstalled(headEnd)) {
      // What is missing at its time is looked for again when the plan or the lists change.
      this.#waiting.set(id, { plan: headEnd, due: due > now ? due : now + plan.settleMs });
      return;
    }
    this.#waiting.delete(id);
    this.#use(headEnd, epochFor(headEnd, inUse?.name ?? this.#gone.get(id), this.#random), plan);
    this.#gone.delete(id);
  }

  #use(headEnd: HeadEndPlan, epoch: number, types: MulticastPlan): void {
    const { id, proxyAddress, replicationSid, membersDigest, treeDigest } = headEnd;
    const pathMtu = this.#options.pathMtu(id) ?? Infinity;
    const { srh, mtu } = encapsulation(headEnd, epoch, { types, pathMtu });
    const route = { id, proxyAddress, replicationSid, srh: Buffer.from(srh).toString('hex'), mtu };
    this.#heads.set(id, { inUse: { name: { epoch, membersDigest, treeDigest }, plan: headEnd, route } });
  }
}
