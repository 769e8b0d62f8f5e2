// Keeps cnpd's policies in a gobgpd as they should be (policy.ts): puts them in before the first path of cnpd's, in
// front of the operator's, which it leaves as they are; keeps the list of the domain's neighbors; has gobgpd look
// again at what it has advertised or received already; takes all of it out again. What is there of an earlier run is
// taken over.
import type { Clock } from '../../../model/clock.ts';
import { messageOf } from '../../../model/error-text.ts';
import type { GobgpFault } from '../../../model/gobgp-fault.ts';
import type { Count, Log } from '../../../model/log.ts';
import { type Work, nextTurn } from '../../../model/work.ts';
import type { Domain } from '../learning/domain.ts';
import type { GobgpApi } from './api.ts';
import type { PolicyReport } from './gobgp.ts';
import {
  DIRECTION,
  OWN_PATTERN,
  POLICY,
  PolicyConflict,
  SET,
  type PolicyData,
  type PolicyPeer,
  conflict,
  domainEntries,
  exportPolicy,
  importPolicy,
  inFront,
  isOwnSet,
  peersOf,
  recallPolicy,
} from './policy.ts';
import {
  addPolicy,
  addSet,
  assign,
  decodeAssignment,
  decodePolicy,
  decodeSet,
  deletePolicy,
  deleteSet,
  listAssignment,
  listPolicy,
  listSet,
  softReset,
} from './policy-messages.ts';

export interface PolicyDependencies {
  readonly api: Pick<GobgpApi, 'numbers' | 'takesBack'>;
  readonly log: Log;
  readonly count: Count;
  readonly clock: Clock;
  readonly work: Work;
  readonly faultOf: (error: unknown) => GobgpFault;
  /** A short answer of gobgpd's. Rejects with CallError. */
  readonly call: (method: string, request: Uint8Array) => Promise<unknown>;
  /** A stream of answers, to its end. */
  readonly list: (method: string, request: Uint8Array, take: (bytes: Buffer) => void) => Promise<void>;
  readonly peers: () => Promise<readonly (PolicyPeer & { readonly state: string })[]>;
}

const DIRECTIONS = [DIRECTION.export, DIRECTION.import] as const;
const OWN_NAME = { [DIRECTION.export]: POLICY.export, [DIRECTION.import]: POLICY.import } as const;

export class PolicyKeeper {
  readonly #dependencies: PolicyDependencies;
  #running: Promise<void> | undefined;
  #again = false;
  /** It was put in, and it was not there: what gobgpd had advertised before may be outside. */
  #leaked = false;
  #failed: Omit<Extract<PolicyReport, { state: 'failed' }>, 'state'> | undefined;
  #installed = false;

  constructor(dependencies: PolicyDependencies) {
    this.#dependencies = dependencies;
  }

  get report(): PolicyReport {
    return this.#failed !== undefined
      ? { state: 'failed', ...this.#failed }
      : { state: this.#installed ? 'installed' : 'pending' };
  }

  /** Whether gobgpd may have sent paths of the domain to neighbors outside, and cannot take them back by itself. */
  get mustRecall(): boolean {
    return this.#leaked && !this.#dependencies.api.takesBack;
  }

  /**
   * Puts right whatever is not, one run after another. Rejects only with what ends the connection: a conflict is
   * reported.
   */
  sync(domain: () => Domain): Promise<void> {
    this.#again = true;
    return (this.#running ??= this.#run(domain).finally(() => (this.#running = undefined)));
  }

  async #run(domain: () => Domain): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#once(domain()).then(
        () => this.#succeeded(),
        (error: unknown) => this.#refused(error),
      );
      // Events of many neighbors at once are one run.
      await nextTurn(this.#dependencies.work);
    }
  }

  #succeeded(): void {
    if (this.#failed !== undefined || !this.#installed)
      this.#dependencies.log.info({}, "cnpd's policies are in force in gobgpd");
    this.#failed = undefined;
    this.#installed = true;
  }

  #refused(error: unknown): void {
    const text = messageOf(error);
    const nameTaken = error instanceof PolicyConflict;
    const reason = nameTaken ? text : `gobgpd refuses cnpd's policies: ${text}`;
    if (reason !== this.#failed?.reason)
      this.#dependencies.log.warn({ reason }, "cnpd's policies cannot be installed in gobgpd");
    if (this.#failed === undefined) this.#dependencies.count('bgp.policy.failed');
    this.#failed = { reason, fault: this.#dependencies.faultOf(error).code, nameTaken };
  }

  async #once(domain: Domain): Promise<void> {
    const peers = await this.#dependencies.peers();
    const changed = await this.#syncSets(domainEntries(peers, domain));
    const fresh = await this.#syncPolicies(domain.ownAs);
    const isInside = new Set(peersOf([...domainEntries(peers, domain)], peers));
    const established = peers.filter(({ state }) => state === 'established').map(({ address }) => address);
    const outside = established.filter((address) => !isInside.has(address));
    const again = new Set([...peersOf(changed, peers), ...(fresh ? outside : [])]);
    if (outside.some((address) => again.has(address))) this.#leaked = true;
    for (const address of again) await this.#lookAgain(address);
  }

  /** @returns entries that have come or gone */
  async #syncSets(desired: ReadonlySet<string>): Promise<string[]> {
    const { neighborSet, largeCommunitySet } = this.#dependencies.api.numbers;
    const own = { definedType: largeCommunitySet, name: SET.own };
    const patterns = await this.#set(own);
    if (patterns && !isOwnSet(SET.own, patterns)) throw conflict('large community set', SET.own);
    const set = { definedType: neighborSet, name: SET.domain };
    const there = await this.#set(set);
    if (there && !isOwnSet(SET.domain, there)) throw conflict('neighbor set', SET.domain);
    if (!patterns) await this.#dependencies.call('AddDefinedSet', addSet(own, [OWN_PATTERN]));
    const [gone, missing] = [
      [...new Set(there)].filter((entry) => !desired.has(entry)),
      [...desired].filter((entry) => !there?.includes(entry)),
    ];
    // Who leaves the domain does so first.
    if (gone.length > 0) await this.#dependencies.call('DeleteDefinedSet', deleteSet(set, gone));
    if (missing.length > 0) await this.#dependencies.call('AddDefinedSet', addSet(set, missing));
    return [...gone, ...missing];
  }

  async #set(set: { readonly definedType: number; readonly name: string }): Promise<readonly string[] | undefined> {
    let found: readonly string[] | undefined;
    await this.#dependencies.list('ListDefinedSet', listSet(set), (bytes) => (found = decodeSet(bytes, set) ?? found));
    return found;
  }

  /** @returns whether one was not in force */
  async #syncPolicies(ownAs: number): Promise<boolean> {
    const { api, call, count } = this.#dependencies;
    let fresh = false;
    for (const policy of [exportPolicy(api), importPolicy(api, ownAs)])
      if (!(await this.#has(policy))) await call('AddPolicy', addPolicy(policy));
    for (const direction of DIRECTIONS) {
      const names = await this.#assigned(direction);
      const own = OWN_NAME[direction];
      if (names[0] === own) continue;
      fresh = true;
      await call('SetPolicyAssignment', assign(direction, inFront(own, names)));
      if (this.#installed) count('bgp.policy.put-back');
    }
    return fresh;
  }

  async #has(policy: PolicyData): Promise<boolean> {
    let same: boolean | undefined;
    await this.#dependencies.list(
      'ListPolicy',
      listPolicy(policy.name),
      (bytes) => (same = decodePolicy(bytes, policy) ?? same),
    );
    if (same === false) throw conflict('policy', policy.name);
    return same === true;
  }

  async #assigned(direction: number): Promise<string[]> {
    const names: string[] = [];
    await this.#dependencies.list(
      'ListPolicyAssignment',
      listAssignment(direction),
      (bytes) => void names.push(...decodeAssignment(bytes)),
    );
    return names;
  }

  /** gobgpd applies a policy to what comes from now on. A neighbor that is gone meanwhile needs nothing. */
  async #lookAgain(address: string): Promise<void> {
    const { softIn, softOut } = this.#dependencies.api.numbers;
    for (const direction of [softIn, softOut])
      await this.#dependencies
        .call('ResetPeer', softReset(address, direction))
        .catch((error: unknown) => this.#dependencies.log.debug({ error, address }, 'no soft reset'));
  }

  /**
   * gobgpd 3 does not withdraw what a policy has come to reject. It does withdraw what is gone: so for a moment paths
   * of cnpd's from these neighbors are refused, and then taken in again, which the other neighbors see as a
   * withdrawal and an announcement.
   */
  async recall(from: readonly string[]): Promise<void> {
    this.#leaked = false;
    if (from.length === 0) return;
    const { api, call, count } = this.#dependencies;
    count('bgp.policy.recalled');
    const policy = recallPolicy(api);
    if (!(await this.#has(policy))) await call('AddPolicy', addPolicy(policy));
    await call(
      'SetPolicyAssignment',
      assign(DIRECTION.import, inFront(policy.name, await this.#assigned(DIRECTION.import))),
    );
    for (const address of from) await call('ResetPeer', softReset(address, api.numbers.softIn));
    await this.#takeOut(DIRECTION.import, policy);
    for (const address of from) await call('ResetPeer', softReset(address, api.numbers.softIn));
  }

  /**
   * All of it, of this run or an earlier one; what is not cnpd's, whatever its name, stays.
   * @returns whether something was there
   */
  async remove(ownAs: number): Promise<boolean> {
    await this.#running?.catch(() => {});
    const { api, call } = this.#dependencies;
    const found: boolean[] = [];
    for (const [direction, policy] of [
      [DIRECTION.export, exportPolicy(api)],
      [DIRECTION.import, importPolicy(api, ownAs)],
      [DIRECTION.import, recallPolicy(api)],
    ] as const) {
      found.push(await this.#takeOut(direction, policy).catch((error: unknown) => this.#mayFail(error)));
    }
    for (const [definedType, name] of [
      [api.numbers.neighborSet, SET.domain],
      [api.numbers.largeCommunitySet, SET.own],
    ] as const) {
      const there = await this.#set({ definedType, name });
      if (there && isOwnSet(name, there))
        await call('DeleteDefinedSet', deleteSet({ definedType, name })).catch((error: unknown) =>
          this.#mayFail(error),
        );
    }
    this.#installed = false;
    return found.some(Boolean);
  }

  #mayFail(error: unknown): false {
    this.#dependencies.log.warn({ error }, 'a policy in gobgpd stays');
    return false;
  }

  async #takeOut(direction: number, policy: PolicyData): Promise<boolean> {
    if (!(await this.#has(policy))) return false;
    if ((await this.#assigned(direction)).includes(policy.name))
      await this.#dependencies.call('DeletePolicyAssignment', assign(direction, [policy.name]));
    await this.#dependencies.call('DeletePolicy', deletePolicy(policy.name));
    return true;
  }
}
