// What all pages show, kept up to date: follows every cnpd of a lab, and hands what looks different to its
// listeners, at most ten times a second.
import { Follower } from './follower.ts';
import { addressesOf, outgoing, socketOf } from './lab-view.ts';
import type { LabView, NodeView, NotificationView, TreeView } from './model.ts';
import { Directory } from './network.ts';
import { nodeView } from './node-view.ts';
import { Rows } from './rows.ts';
import { NotificationFeed, onTheirWays } from './notifications.ts';
import { Routes } from './routes.ts';
import { trees } from './trees.ts';

/** Between two looks. */
const TICK_MS = 100;
/** Addresses are asked of ip(8), one node after another. */
const ADDRESSES_MS = 10_000;
/** Kinds of notifications in one message. */
const MAX_NOTIFICATIONS = 64;

export interface Changes {
  readonly nodes: readonly NodeView[];
  readonly trees: readonly TreeView[] | undefined;
  readonly notifications: readonly NotificationView[];
}

interface Member {
  readonly follower: Follower | undefined;
  readonly feed: NotificationFeed;
  isChanged: boolean;
  /** As sent last. */
  text: string;
}

const NO_ROWS = new Rows();

export class Hub {
  readonly lab: LabView;
  readonly #directory = new Directory();
  readonly #routes: Routes;
  readonly #members: ReadonlyMap<string, Member>;
  readonly #views = new Map<string, NodeView>();
  readonly #listeners = new Set<(changes: Changes) => void>();
  #trees: readonly TreeView[] = [];
  #ticker: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(lab: LabView) {
    this.lab = lab;
    this.#routes = new Routes({
      links: lab.links,
      ask: (node, address) => outgoing(lab.name, node, address).catch(() => undefined),
      now: () => performance.now(),
    });
    this.#members = new Map(lab.nodes.map(({ name, kind }) => [name, this.#member(name, kind === 'cnpd')]));
  }

  #member(name: string, hasCnpd: boolean): Member {
    const feed = new NotificationFeed(name);
    const changed = (): void => {
      const member = this.#members.get(name);
      if (member) member.isChanged = true;
    };
    const follower: Follower | undefined = hasCnpd
      ? new Follower({
          socket: () => socketOf(this.lab.name, name),
          onChange: changed,
          onBegin: () => feed.begin(follower!.rows),
        })
      : undefined;
    return { follower, feed, isChanged: true, text: '' };
  }

  async start(): Promise<void> {
    await this.#askAddresses();
    for (const { follower } of this.#members.values()) follower?.start();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  /** Everything as it is now. */
  get whole(): Changes {
    return { nodes: [...this.#views.values()], trees: this.#trees, notifications: [] };
  }

  /** The function that it returns ends it. */
  listen(listener: (changes: Changes) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#ticker);
    clearTimeout(this.#asking);
    for (const { follower } of this.#members.values()) follower?.close();
  }

  async #askAddresses(): Promise<void> {
    for (const { name } of this.lab.nodes)
      if (this.#directory.set(name, await addressesOf(this.lab.name, name))) this.#changeAll();
    if (!this.#closed) this.#asking = setTimeout(() => void this.#askAddresses(), ADDRESSES_MS);
  }

  #changeAll(): void {
    for (const member of this.#members.values()) member.isChanged = true;
  }

  #learnSids(name: string, { follower }: Member): boolean {
    const sids = (follower?.rows.list('cnpd/sids') ?? []).filter((row) => row['origin'] === 'local');
    return this.#directory.setSids(
      name,
      sids.map((row) => String(row['sid'])),
    );
  }

  #tick(): void {
    const changed = [...this.#members].filter(([, member]) => member.isChanged);
    if (changed.length === 0) return;
    // Which node has a SID concerns what others show of it.
    if (changed.map(([name, member]) => this.#learnSids(name, member)).includes(true)) this.#changeAll();
    const nodes = changed.flatMap(([name, member]) => this.#look(name, member));
    void this.#sendNews(changed);
    const drawn = this.#drawTrees();
    if (nodes.length > 0 || drawn) this.#send({ nodes, trees: drawn, notifications: [] });
  }

  #send(changes: Changes): void {
    for (const listener of this.#listeners) listener(changes);
  }

  /** The view of a node, if it differs from the last one. */
  #look(name: string, member: Member): NodeView[] {
    member.isChanged = false;
    const { follower } = member;
    const place = this.lab.nodes.find((node) => node.name === name)!;
    const view = nodeView(
      { name, kind: place.kind },
      follower?.connection ?? { state: 'none', reason: '' },
      follower?.rows ?? NO_ROWS,
      { links: this.lab.links, directory: this.#directory },
    );
    const text = JSON.stringify(view);
    if (text === member.text) return [];
    member.text = text;
    this.#views.set(name, view);
    return [view];
  }

  async #sendNews(changed: readonly (readonly [string, Member])[]): Promise<void> {
    const takers = [...this.#members].flatMap(([node, { follower }]) => {
      const sources = follower?.rows.list('cnpd/sources') ?? [];
      return sources.length > 0 ? [{ node, prefixes: sources.map((row) => String(row['prefix'])) }] : [];
    });
    const sent = changed
      .flatMap(([, { follower, feed }]) =>
        follower?.connection.state === 'up' ? feed.news(follower.rows, Date.now()) : [],
      )
      .slice(0, MAX_NOTIFICATIONS);
    if (sent.length === 0) return;
    const way: Routes['way'] = (...asked) => this.#routes.way(...asked);
    const notifications = await onTheirWays(sent, { directory: this.#directory, takers, way });
    this.#send({ nodes: [], trees: undefined, notifications });
  }

  #drawTrees(): readonly TreeView[] | undefined {
    const all = [...this.#members.values()].flatMap(({ follower }) => (follower ? [follower.rows] : []));
    const found = trees(all, { links: this.lab.links, directory: this.#directory });
    if (JSON.stringify(found) === JSON.stringify(this.#trees)) return undefined;
    return (this.#trees = found);
  }
}
