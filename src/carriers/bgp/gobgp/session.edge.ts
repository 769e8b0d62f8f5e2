// One connection to a gobgpd, from its beginning to its first error: it finds out which API answers, watches, lists,
// and then keeps both up. In this order nothing is lost. gobgpd reports its neighbors when it has registered the watch,
// and only then is asked for its table. So events may overlap with the list, but never leave a gap (routes.ts).
import { status } from '@grpc/grpc-js';
import type { Family } from '../../../model/address.ts';
import type { Clock } from '../../../model/clock.ts';
import type { Count, Log } from '../../../model/log.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { type Work, finish, nextTurn } from '../../../model/work.ts';
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import { MARK_KIND, MARK_OWN } from '../domain-marks.ts';
import type { GobgpApi } from './api.ts';
import { ANSWER_MS, Calls } from './calls.edge.ts';
import { CallError, Channel } from './channel.edge.ts';
import { GobgpError } from './fault.ts';
import type { GobgpListener, GobgpOptions, Guard, OwnPath, PolicyReport } from './gobgp.ts';
import { identify } from './identify.edge.ts';
import { Intake } from './intake.ts';
import { DEAD_MS } from './liveness.ts';
import {
  type About,
  GET_BGP_REQUEST,
  LIST_PEER_BRIEFLY,
  LIST_PEER_REQUEST,
  decodeAbout,
  decodeEvent,
  decodeListed,
  decodePeer,
} from './messages.ts';
import type { PolicyDependencies } from './policy.edge.ts';
import { PolicyGuard } from './policy-guard.edge.ts';
import { faultOf, hasNoTable } from './reason.ts';
import { Routes } from './routes.ts';
import { upload } from './upload.edge.ts';

const FAMILIES: readonly Family[] = [4, 6];
const HEALTH_MS = 5000;
/** Prefixes asked about at a time. */
const LOOKUP = 200;
/**
 * Of an upload: a message is encoded in less than a millisecond, and costs gobgpd about as much as one path a message
 * would.
 */
export const PATHS_A_MESSAGE = 100;
const UPLOAD_BUDGET_MS = 4;
/** An upload of as many or more is done first. */
const MANY = 250;
export interface SessionDependencies {
  readonly listener: GobgpListener;
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  /** Absent: nothing is put between gobgpd and its neighbors. */
  readonly guard?: Guard;
  /** Members of gobgpd's confederation that have shown themselves. */
  readonly members?: () => ReadonlySet<number>;
}

export class Session {
  readonly #options: GobgpOptions;
  readonly #dependencies: SessionDependencies;
  readonly #intake: Intake;
  #channel: Channel | undefined;
  #calls: Calls | undefined;
  #api: GobgpApi | undefined;
  #routes: Routes | undefined;
  #about: About | undefined;
  #asking = false;
  /** Questions of others than routes.ts, by the keys that are open; each is notified when none is. */
  readonly #looks = new Map<Set<string>, () => void>();
  #uploads: Promise<unknown> = Promise.resolve();
  #cancelHealth: () => void = () => {};
  readonly #policy: PolicyGuard | undefined;
  #fail: (error: unknown) => void = () => {};
  #over = false;
  #listing: Promise<BgpPeerState[] | undefined> | undefined;
  /** As gobgpd reported them the last time. */
  lastPeers: BgpPeerState[] | undefined;
  /** Everything has been reported once. */
  listed = false;

  constructor(options: GobgpOptions, dependencies: SessionDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#policy = dependencies.guard && new PolicyGuard(dependencies.guard, dependencies.members ?? (() => new Set()));
    this.#intake = new Intake({
      work: dependencies.work,
      turned: () => this.#report(),
      fullnessChanged: () => this.#calls?.flow(),
      failed: (error) => this.#fail(new Error(`gobgpd's message makes no sense: ${text(error)}`)),
    });
  }

  /** Lives until something goes wrong. Rejects with why. */
  async run(): Promise<never> {
    const failed = new Promise<never>((_, reject) => (this.#fail = reject));
    try {
      return await Promise.race([failed, this.#live().then(() => failed)]);
    } finally {
      this.close();
    }
  }

  /** Idempotent. Nothing is reported any more. */
  close(): void {
    this.#over = true;
    this.#cancelHealth();
    this.#calls?.close();
    this.#intake.close();
    this.#channel?.close();
    this.#fail(new Error('closed'));
  }

  async add(paths: readonly OwnPath[]): Promise<void> {
    const { api, routes } = this.#connected();
    await this.#policy?.stand();
    const mark = this.#dependencies.guard && ([this.#about!.as, MARK_KIND, MARK_OWN] as const);
    await this.#upload(paths, (some) => {
      routes.put(some);
      return api.addRequest(some, undefined, mark);
    });
  }

  async withdraw(prefixes: readonly Prefix[]): Promise<void> {
    const { api, routes } = this.#connected();
    await this.#upload(prefixes, (some) => api.withdrawRequest(some));
    routes.taken(prefixes);
  }

  async look(prefixes: readonly Prefix[]): Promise<void> {
    const { routes, calls } = this.#connected();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(new Error('the connection to gobgpd is closed'));
      calls.waits.add(giveUp);
      this.#looks.set(new Set(routes.doubt(prefixes)), () => (calls.waits.delete(giveUp), resolve()));
      if (!this.#asking) this.#ask(routes);
    });
  }

  get policy(): PolicyReport {
    return this.#policy?.report ?? { state: 'off' };
  }

  /** For how long gobgpd owes an answer and sends nothing else either, milliseconds. */
  get silentMs(): number {
    return this.#calls?.liveness.silentMs ?? 0;
  }

  /** Undefined: gobgpd is not known yet. */
  async peers(request = LIST_PEER_REQUEST): Promise<BgpPeerState[] | undefined> {
    if (!this.#calls) return undefined;
    const peers: BgpPeerState[] = [];
    await this.#calls.collect('ListPeer', request, (bytes) => {
      const peer = decodePeer(bytes);
      if (peer) peers.push(peer);
    });
    return peers;
  }

  /** Callers share one request. */
  listPeers(): Promise<BgpPeerState[] | undefined> {
    return (this.#listing ??= this.peers()
      .then((peers) => (this.lastPeers = peers))
      .finally(() => (this.#listing = undefined)));
  }

  /** Called when the domain's members, the neighbors or the policies may have changed. */
  lookAtPolicy(): void {
    this.#policy?.look().catch(this.#fail);
  }

  removePolicy(): Promise<void> {
    return this.#policy?.remove() ?? Promise.resolve();
  }

  async #live(): Promise<void> {
    this.#channel = await Channel.open(this.#options);
    if (this.#over) return this.#channel.close();
    const { api, about } = await identify(this.#channel, ANSWER_MS);
    this.#api = api;
    const calls = (this.#calls = new Calls({
      channel: this.#channel,
      service: api.service,
      intake: this.#intake,
      clock: this.#dependencies.clock,
      taken: (least) => this.#report(least),
    }));
    calls.liveness.heard();
    this.#about = about;
    const routes = new Routes({ api, learn: this.#options.learn, multipath: about.multipath }, this.#dependencies);
    await this.#watch(calls, api, routes);
    await this.#policy?.begin(about, this.#policyDependencies(calls, api));
    // Not before: changes may come in the same turn of the event loop as the announcement that they will, and what is
    // reported before `connected` is not of this connection.
    this.#routes = routes;
    this.#dependencies.listener.connected({ api: api.name, as: about.as, routerId: about.routerId });
    const without: Family[] = [];
    for (const family of FAMILIES)
      if (!(await this.#listPath(family, [], (bytes) => routes.listed(decodeListed(bytes))))) without.push(family);
    for (const family of without)
      this.#dependencies.log.info({ family }, `gobgpd has no table of IPv${family} unicast`);
    await new Promise<void>((resolve) => this.#intake.push(resolve));
    this.#report();
    routes.loaded();
    this.listed = true;
    this.#dependencies.listener.listed(without);
    this.#policy?.loaded().catch(this.#fail);
    this.#scheduleHealth();
  }

  /** Resolves when gobgpd has registered the watch. */
  #watch(calls: Calls, api: GobgpApi, routes: Routes): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#dependencies.clock.after(ANSWER_MS, () =>
        reject(new GobgpError('no-answer', `gobgpd does not begin to report changes within ${ANSWER_MS / 1000} s`)),
      );
      calls.waits.add(cancel);
      const watching = (): void => (cancel(), resolve());
      const take = (bytes: Buffer): void => {
        const event = decodeEvent(bytes);
        if (event.type === 'watching') watching();
        if (event.type === 'peer') this.lookAtPolicy();
        if (event.type === 'paths') for (const path of event.paths) this.#intake.push(() => routes.event(path));
      };
      calls.stream('WatchEvent', api.watchRequest(this.#options.learn), take, (error) =>
        this.#fail(error ?? new Error('gobgpd has ended the stream of changes')),
      );
    });
  }

  /** @returns whether gobgpd has a table of the family */
  async #listPath(family: Family, prefixes: readonly Prefix[], take: (bytes: Buffer) => void): Promise<boolean> {
    try {
      const { calls, api } = this.#connected();
      await calls.collect('ListPath', api.listRequest(family, prefixes), take);
      return true;
    } catch (error) {
      if (!hasNoTable(error)) throw error;
      return false;
    }
  }

  /** Reports the routes of a turn, if there are at least that many, and asks the questions that they have raised. */
  #report(least = 0): void {
    if (this.#over || !this.#routes || this.#routes.unreported < least) return;
    const routes = this.#routes.take();
    this.#policy?.reported(routes);
    if (routes.length > 0) this.#dependencies.listener.routes(routes);
    if (!this.#asking) this.#ask(this.#routes);
  }

  #ask(routes: Routes): void {
    const question = routes.ask(LOOKUP);
    if (!question) return;
    this.#asking = true;
    this.#dependencies.count('bgp.gobgp.asked', question.prefixes.length);
    this.#listPath(question.family, question.prefixes, (bytes) => routes.answer(decodeListed(bytes))).then(() => {
      this.#asking = false;
      routes.answered();
      this.#report();
      this.#looked(routes);
    }, this.#fail);
  }

  #looked(routes: Routes): void {
    for (const [keys, done] of this.#looks) {
      for (const key of keys) if (!routes.isOpen(key)) keys.delete(key);
      if (keys.size > 0) continue;
      this.#looks.delete(keys);
      done();
    }
  }

  /**
   * A gobgpd whose AS has changed has lost its table, so the connection ends. The policies are checked as often: a
   * reload of gobgpd's configuration removes them.
   */
  #scheduleHealth(): void {
    this.#cancelHealth = this.#dependencies.clock.after(HEALTH_MS, () => {
      this.#calls!.call('GetBgp', GET_BGP_REQUEST)
        .then(
          (bytes) => {
            const { as, routerId, multipath } = decodeAbout(bytes);
            if (as !== this.#about!.as || routerId !== this.#about!.routerId || multipath !== this.#about!.multipath)
              throw new Error('gobgpd has been configured anew');
            this.lookAtPolicy();
          },
          (error: unknown) => {
            if (!(
              error instanceof CallError &&
              error.code === status.DEADLINE_EXCEEDED &&
              this.#calls!.isBusy(DEAD_MS)
            ))
              throw error;
          },
        )
        .then(() => this.#over || this.#scheduleHealth(), this.#fail);
    });
  }

  #policyDependencies(calls: Calls, api: GobgpApi): PolicyDependencies {
    return {
      ...this.#dependencies,
      api,
      faultOf: (error) => faultOf(error, this.#options),
      call: (method, request) => calls.call(method, request),
      list: (method, request, take) => calls.collect(method, request, take),
      peers: async () => (await this.peers(LIST_PEER_BRIEFLY)) ?? [],
    };
  }

  /** Uploads run one after another, so that of contradicting ones the last one counts. */
  #upload<T>(items: readonly T[], request: (some: readonly T[]) => Uint8Array): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    const run = this.#uploads.then(async () => {
      // gobgpd reports each of these paths too. That waits for a second, or it would take the time of gobgpd and of
      // cnpd that the paths themselves need.
      const { calls } = this.#connected();
      calls.uploading = items.length >= MANY;
      calls.flow();
      try {
        const steps = upload(this.#channel!, calls.path('AddPathStream'), items, PATHS_A_MESSAGE, request);
        await finish(this.#dependencies.work, steps, UPLOAD_BUDGET_MS);
      } finally {
        calls.uploading = false;
        // Not before whoever waits for this one has had a chance to begin the next.
        void nextTurn(this.#dependencies.work).then(() => this.#over || calls.flow());
      }
    });
    this.#uploads = run.catch(() => {});
    return run;
  }

  #connected(): { readonly api: GobgpApi; readonly calls: Calls; readonly routes: Routes } {
    if (this.#over || !this.#api || !this.#calls || !this.#routes) throw new Error('gobgpd is not connected');
    return { api: this.#api, calls: this.#calls, routes: this.#routes };
  }
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));
