// cnpd's policies over one life of the connection to a gobgpd (policy.edge.ts): when they are looked at, who is of the
// domain, and from whom paths of cnpd's have come.
import type { Domain } from '../learning/domain.ts';
import type { About } from './messages.ts';
import type { GobgpRoute, Guard, PolicyReport } from './gobgp.ts';
import { PolicyKeeper, type PolicyDependencies } from './policy.edge.ts';

export class PolicyGuard {
  readonly #guard: Guard;
  readonly #members: () => ReadonlySet<number>;
  /** Neighbors that have advertised paths of the domain. */
  readonly #tellers = new Set<string>();
  #keeper: PolicyKeeper | undefined;
  #ownAs = 0;
  #loaded = false;
  #isRemoving = false;
  /** Looks that are under way. */
  readonly #looks = new Set<Promise<void>>();

  /** @param members those that have shown themselves */
  constructor(guard: Guard, members: () => ReadonlySet<number>) {
    this.#guard = guard;
    this.#members = members;
  }

  get report(): PolicyReport {
    if (!this.#guard.policy) return { state: 'off' };
    return this.#keeper?.report ?? { state: 'pending' };
  }

  /** Before anything of cnpd's is put in. */
  async begin(about: Pick<About, 'as'>, dependencies: PolicyDependencies): Promise<void> {
    this.#ownAs = about.as;
    this.#isRemoving = false;
    this.#keeper = new PolicyKeeper(dependencies);
    if (!this.#guard.policy)
      await this.#keeper
        .remove(this.#ownAs)
        .catch((error: unknown) => dependencies.log.debug({ error }, 'policies of an earlier run'));
    await this.look();
  }

  /** Neighbors have changed, or another client may have changed the policies. */
  look(): Promise<void> {
    // A look during the removal would put back what is being removed.
    if (!this.#guard.policy || !this.#keeper || this.#isRemoving) return Promise.resolve();
    const look = this.#look(this.#keeper).finally(() => this.#looks.delete(look));
    this.#looks.add(look);
    return look;
  }

  async #look(keeper: PolicyKeeper): Promise<void> {
    await keeper.sync(() => this.#domain());
    if (this.#loaded && keeper.mustRecall && !this.#isRemoving) await keeper.recall([...this.#tellers]);
  }

  reported(routes: readonly GobgpRoute[]): void {
    for (const { paths } of routes)
      for (const { mark, neighbor } of paths) if (mark === 'own' && neighbor !== undefined) this.#tellers.add(neighbor);
  }

  /** All that gobgpd has was reported. */
  async loaded(): Promise<void> {
    this.#loaded = true;
    if (this.#keeper?.mustRecall) await this.look();
  }

  /** @throws Error: a path that is put in now would go wherever gobgpd sends it */
  async stand(): Promise<void> {
    if (this.report.state === 'off') return;
    if (this.report.state !== 'installed') await this.look();
    const { report } = this;
    if (report.state === 'failed') throw new Error(`${report.reason}; without its policy cnpd adds no path`);
  }

  async remove(): Promise<void> {
    this.#isRemoving = true;
    await Promise.allSettled(this.#looks);
    if (this.#guard.policy) await this.#keeper?.remove(this.#ownAs);
  }

  #domain(): Domain {
    const { domain, confederation } = this.#guard;
    return { ownAs: this.#ownAs, domain: new Set(domain), members: new Set([...confederation, ...this.#members()]) };
  }
}
