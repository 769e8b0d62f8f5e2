// One connection to a gobgpd, from its beginning to its first error: it finds out which API answers, watches, lists,
// and then keeps both up. In this order nothing is lost. gobgpd reports its neighbors when it has registered the watch,
// and only then is asked for its table. So events may overlap with the list, but never leave a gap (routes.ts).
import { status } from '@grpc/grpc-js';
import type { Family } from '../../../model/address.ts';
import type { Clock } from '../../../model/clock.ts';
import { messageOf } from '../../../model/error-text.ts';
import type { Count, Log } from '../../../model/log.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { Work } from '../../../model/work.ts';
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
import { LookUps } from './look-ups.ts';
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
import { Uploads } from './upload.edge.ts';

const FAMILIES: readonly Family[] = [4, 6];
const HEALTH_MS = 5000;

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
  #lookUps: LookUps | undefined;
  #uploads: Uploads | undefined;
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
      failed: (error) => this.#fail(new Error(`gobgpd's message makes no sense: ${messageOf(error)}`)),
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
    this.#uploads?.close();
    this.#intake.close();
    this.#channel?.close();
    this.#fail(new Error('closed'));
  }

  async add(paths: readonly OwnPath[]): Promise<void> {
    const { api, routes, uploads } = this.#connected();
    await this.#policy?.stand();
    const mark = this.#dependencies.guard && ([this.#about!.as, MARK_KIND, MARK_OWN] as const);
    await uploads.run(paths, (some) => {
      routes.put(some);
      return api.addRequest(some, undefined, mark);
    });
  }

  async withdraw(prefixes: readonly Prefix[]): Promise<void> {
    const { api, routes, uploads } = this.#connected();
    await uploads.run(prefixes, (some) => api.withdrawRequest(some));
    routes.taken(prefixes);
  }

  async look(prefixes: readonly Prefix[]): Promise<void> {
    await this.#connected().lookUps.look(prefixes);
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
    this.#lookUps = new LookUps({
      ...{ routes, waits: calls.waits, count: this.#dependencies.count, failed: this.#fail },
      list: ({ family, prefixes }) => this.#listPath(family, prefixes, (bytes) => routes.answer(decodeListed(bytes))),
      report: () => this.#report(),
    });
    this.#uploads = new Uploads({ calls, channel: this.#channel, work: this.#dependencies.work });
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
    this.#lookUps?.ask();
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
            if (
              !(error instanceof CallError && error.code === status.DEADLINE_EXCEEDED && this.#calls!.isBusy(DEAD_MS))
            )
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

  #connected() {
    const [api, calls, routes] = [this.#api, this.#calls, this.#routes];
    const [lookUps, uploads] = [this.#lookUps, this.#uploads];
    if (this.#over || !api || !calls || !routes || !lookUps || !uploads) throw new Error('gobgpd is not connected');
    return { api, calls, routes, lookUps, uploads };
  }
}
