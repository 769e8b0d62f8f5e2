// One life of the connection to a gobgpd: find out which API answers, watch, list, and then keep both up, until something goes wrong, which ends it. In this order nothing is
// lost: gobgpd tells of its neighbours when the watch is registered, and only then is it asked for its table; events overlap with the list, they never leave a gap (routes.ts).
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Family } from '../../../model/address.ts';
import type { Clock } from '../../../model/clock.ts';
import type { Count, Log } from '../../../model/log.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { GobgpApi } from './api.ts';
import { CallError, Channel } from './channel.edge.ts';
import type { GobgpListener, GobgpOptions, OwnPath } from './gobgp.ts';
import { identify } from './identify.edge.ts';
import { type About, GET_BGP_REQUEST, LIST_PEER_REQUEST, decodeAbout, decodeEvent, decodeListed, decodePeer } from './messages.ts';
import { Routes } from './routes.ts';
import { Slices } from './slices.edge.ts';
import { upload } from './upload.edge.ts';

const FAMILIES: readonly Family[] = [4, 6];
/** For short answers. gobgpd does one thing at a time, and is slow to answer while it takes in a table. */
const ANSWER_MS = 10_000;
/** Without anything coming in, of a long one: v3 gathers the whole table before it sends the first path. */
const SILENCE_MS = 60_000;
const HEALTH_MS = 10_000;
/** Prefixes asked about at a time. */
const LOOKUP = 200;
/** Of an upload: a message is encoded in less than a millisecond, and costs gobgpd about as much as one path a message would. */
export const PATHS_A_MESSAGE = 100;
/** An upload of as many or more is done first. */
const MANY = 250;
/** Routes told in one go. What the carrier makes of them takes longer than decoding them does, so that it has to count for the slice. */
const TELL = 100;

export interface SessionModules {
  readonly listener: GobgpListener;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
}

export class Session {
  readonly #options: GobgpOptions;
  readonly #modules: SessionModules;
  readonly #slices: Slices;
  readonly #streams = new Set<ClientReadableStream<Buffer>>();
  #channel: Channel | undefined;
  #api: GobgpApi | undefined;
  #routes: Routes | undefined;
  #about: About | undefined;
  #asking = false;
  /** Questions of others than routes.ts, by the keys that are open; each is told when none is. */
  readonly #looks = new Map<Set<string>, () => void>();
  /** Many paths are on their way. */
  #uploading = false;
  #uploads: Promise<unknown> = Promise.resolve();
  #cancelHealth: () => void = () => {};
  /** Each gives up what waits for gobgpd. */
  readonly #waits = new Set<() => void>();
  #fail: (error: unknown) => void = () => {};
  #over = false;
  /** Everything has been told once. */
  listed = false;

  constructor(options: GobgpOptions, modules: SessionModules) {
    this.#options = options;
    this.#modules = modules;
    this.#slices = new Slices({ turned: () => this.#tell(), room: () => this.#flow(), failed: (error) => this.#fail(new Error(`what gobgpd says makes no sense: ${text(error)}`)) });
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

  /** Idempotent. Nothing is told any more. */
  close(): void {
    this.#over = true;
    this.#cancelHealth();
    for (const giveUp of this.#waits) giveUp();
    this.#slices.close();
    this.#channel?.close();
    this.#fail(new Error('closed'));
  }

  async add(paths: readonly OwnPath[]): Promise<void> {
    const { api, routes } = this.#connected();
    await this.#upload(paths, (some) => {
      routes.put(some);
      return api.addRequest(some);
    });
  }

  async withdraw(prefixes: readonly Prefix[]): Promise<void> {
    const { api, routes } = this.#connected();
    await this.#upload(prefixes, (some) => api.withdrawRequest(some));
    routes.taken(prefixes);
  }

  async look(prefixes: readonly Prefix[]): Promise<void> {
    const { routes } = this.#connected();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(new Error('the connection to gobgpd is closed'));
      this.#waits.add(giveUp);
      this.#looks.set(new Set(routes.doubt(prefixes)), () => (this.#waits.delete(giveUp), resolve()));
      if (!this.#asking) this.#ask(routes);
    });
  }

  /** Undefined: gobgpd is not known yet. */
  async peers(): Promise<BgpPeerState[] | undefined> {
    if (!this.#api || !this.#channel) return undefined;
    const peers: BgpPeerState[] = [];
    await this.#collect('ListPeer', LIST_PEER_REQUEST, (bytes) => {
      const peer = decodePeer(bytes);
      if (peer) peers.push(peer);
    });
    return peers;
  }

  async #live(): Promise<void> {
    this.#channel = await Channel.open(this.#options);
    if (this.#over) return this.#channel.close();
    const { api, about } = await identify(this.#channel, ANSWER_MS);
    this.#api = api;
    this.#about = about;
    const routes = new Routes({ api, learn: this.#options.learn, multipath: about.multipath }, this.#modules);
    await this.#watch(api, routes);
    // Not before: changes may come in the same turn of the event loop as the word that they will, and what is told before `connected` is not of this connection.
    this.#routes = routes;
    this.#modules.listener.connected({ api: api.name, as: about.as, routerId: about.routerId });
    const without: Family[] = [];
    for (const family of FAMILIES) if (!(await this.#listPath(family, [], (bytes) => routes.listed(decodeListed(bytes))))) without.push(family);
    for (const family of without) this.#modules.log.info({ family }, `gobgpd has no table of IPv${family} unicast`);
    await new Promise<void>((resolve) => this.#slices.push(resolve));
    this.#tell();
    routes.loaded();
    this.listed = true;
    this.#modules.listener.listed(without);
    this.#scheduleHealth();
  }

  /** Resolves when gobgpd has registered the watch. */
  #watch(api: GobgpApi, routes: Routes): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#modules.clock.after(ANSWER_MS, () => reject(new Error(`gobgpd does not begin to tell of changes within ${ANSWER_MS / 1000} s`)));
      this.#waits.add(cancel);
      const watching = (): void => (cancel(), resolve());
      const take = (bytes: Buffer): void => {
        const event = decodeEvent(bytes);
        if (event.type === 'watching') watching();
        if (event.type === 'paths') for (const path of event.paths) this.#slices.push(() => routes.event(path));
      };
      this.#stream('WatchEvent', api.watchRequest(this.#options.learn), take, (error) => this.#fail(error ?? new Error('gobgpd has ended the stream of changes')));
    });
  }

  /** @returns whether gobgpd has a table of the family */
  async #listPath(family: Family, prefixes: readonly Prefix[], take: (bytes: Buffer) => void): Promise<boolean> {
    try {
      await this.#collect('ListPath', this.#connected().api.listRequest(family, prefixes), take);
      return true;
    } catch (error) {
      // A gobgpd whose configuration names the other family only.
      if (!(error instanceof CallError && error.message.includes('not supported'))) throw error;
      return false;
    }
  }

  /** A stream of answers to its end, each taken in its slice; nothing that comes for too long is a failure. */
  #collect(method: string, request: Uint8Array, take: (bytes: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancel = (): void => {};
      let ended = false;
      const stop = (): void => {
        cancel();
        ended = true;
      };
      // What has come may be taken after the end, and after close(): there is nothing to wait for then.
      const wait = (): void => {
        cancel();
        if (!ended) cancel = this.#modules.clock.after(SILENCE_MS, () => (stream.cancel(), reject(new Error(`gobgpd has stopped in the middle of an answer to ${method}`))));
      };
      const giveUp = (): void => (stop(), reject(new Error('the connection to gobgpd is closed')));
      const taken = (): void => (this.#waits.delete(giveUp), resolve());
      this.#waits.add(giveUp);
      const stream = this.#stream(
        method,
        request,
        (bytes) => (wait(), take(bytes)),
        (error) => {
          stop();
          if (!error) return this.#slices.push(taken);
          this.#waits.delete(giveUp);
          reject(error);
        },
      );
      wait();
    });
  }

  #stream(method: string, request: Uint8Array, take: (bytes: Buffer) => void, done: (error?: CallError) => void): ClientReadableStream<Buffer> {
    const stream = this.#channel!.stream(`/${this.#api!.service}/${method}`, request, {
      data: (bytes) => this.#slices.push(() => (take(bytes), this.#tell(TELL))),
      done: (error) => {
        this.#streams.delete(stream);
        if (!this.#over) done(error);
      },
    });
    this.#streams.add(stream);
    if (!this.#slices.hasRoom || this.#uploading) stream.pause();
    return stream;
  }

  /** Fetches what there is, unless so much waits to be taken, or so much is on its way to gobgpd, that it is better left there. */
  #flow(): void {
    for (const stream of this.#streams) if (this.#slices.hasRoom && !this.#uploading) stream.resume(); else stream.pause();
  }

  /** What a slice has brought, unless it is less than that, and questions that it has raised. */
  #tell(least = 0): void {
    if (this.#over || !this.#routes || this.#routes.untold < least) return;
    const routes = this.#routes.take();
    if (routes.length > 0) this.#modules.listener.routes(routes);
    if (!this.#asking) this.#ask(this.#routes);
  }

  #ask(routes: Routes): void {
    const question = routes.ask(LOOKUP);
    if (!question) return;
    this.#asking = true;
    this.#modules.count('bgp.gobgp.asked', question.prefixes.length);
    this.#listPath(question.family, question.prefixes, (bytes) => routes.answer(decodeListed(bytes))).then(() => {
      this.#asking = false;
      routes.answered();
      this.#tell();
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

  /** A gobgpd that hangs keeps its connection; one whose AS has changed has lost all that it knew. */
  #scheduleHealth(): void {
    this.#cancelHealth = this.#modules.clock.after(HEALTH_MS, () => {
      this.#channel!.call(`/${this.#api!.service}/GetBgp`, GET_BGP_REQUEST, ANSWER_MS).then((bytes) => {
        const { as, routerId, multipath } = decodeAbout(bytes);
        if (as !== this.#about!.as || routerId !== this.#about!.routerId || multipath !== this.#about!.multipath) throw new Error('gobgpd has been configured anew');
        if (!this.#over) this.#scheduleHealth();
      }).catch(this.#fail);
    });
  }

  /** One upload after the other, so that what is put in and taken out again ends as it was asked last. */
  #upload<T>(items: readonly T[], request: (some: readonly T[]) => Uint8Array): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    const run = this.#uploads.then(async () => {
      // gobgpd tells of each of these paths too. That waits for a second, or it would take the time of gobgpd and of cnpd that the paths themselves need.
      this.#uploading = items.length >= MANY;
      this.#flow();
      try {
        await upload(this.#channel!, `/${this.#api!.service}/AddPathStream`, items, PATHS_A_MESSAGE, request);
      } finally {
        this.#uploading = false;
        // Not before whoever waits for this one has had a chance to begin the next.
        setImmediate(() => this.#over || this.#flow());
      }
    });
    this.#uploads = run.catch(() => {});
    return run;
  }

  #connected(): { readonly api: GobgpApi; readonly routes: Routes } {
    if (this.#over || !this.#api || !this.#routes) throw new Error('gobgpd is not connected');
    return { api: this.#api, routes: this.#routes };
  }
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));
