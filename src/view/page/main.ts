// The page of `lab view`: takes the events of the server, and hands each to what it concerns.
import type { LabView, NodeView, NotificationView, TreeView } from '../model.ts';
import { Cards } from './cards.ts';
import { TreeChoice } from './choice.ts';
import { details } from './details.ts';
import { byId, setText } from './dom.ts';
import { levelOf } from './levels.ts';
import { Log } from './log.ts';
import { Network } from './network.ts';

/** A queue above K_max is soon below again: for so long the page calls its node congested. */
const CONGESTED_MS = 2000;

class Page {
  readonly #nodes = new Map<string, NodeView>();
  readonly #cards = new Cards(byId('cards'));
  readonly #log = new Log(byId('log'));
  readonly #trees = new TreeChoice(byId('tree-choice'), (tree) => this.#network?.showTree(tree));
  /** When a queue of the node was last seen above K_max. */
  readonly #deepAt = new Map<string, number>();
  #network: Network | undefined;
  #selected = '';
  /** Until the reader selects a node, the one whose queue is watched is shown. */
  #isChosen = false;
  /** What the details show, as text: they are not made anew, and lose no focus, while a queue moves. */
  #shown = '';

  constructor() {
    setInterval(() => this.#summary(), CONGESTED_MS / 2);
  }

  lab(lab: LabView): void {
    setText(byId('lab-name'), lab.name);
    document.title = `cnpd: ${lab.name}`;
    this.#network = new Network(byId('network'), lab, (name) => {
      this.#isChosen = true;
      this.#select(name);
    });
    for (const view of this.#nodes.values()) this.#network.showNode(view);
    this.#select(this.#selected || (lab.nodes.find(({ kind }) => kind === 'cnpd') ?? lab.nodes[0])?.name || '');
  }

  nodes(views: readonly NodeView[]): void {
    for (const view of views) {
      this.#nodes.set(view.name, view);
      this.#network?.showNode(view);
      this.#cards.update(view);
    }
    if (!this.#isChosen) {
      const watching = [...this.#nodes.values()].find(({ ports }) => ports.length > 0);
      if (watching && watching.name !== this.#selected) this.#select(watching.name);
    }
    this.#details();
    this.#summary();
  }

  trees(trees: readonly TreeView[]): void {
    this.#trees.update(trees);
  }

  notifications(all: readonly NotificationView[]): void {
    for (const sent of all) {
      this.#network?.motion.show(sent);
      this.#log.add(sent);
    }
  }

  #select(name: string): void {
    this.#selected = name;
    this.#network?.select(name);
    this.#details();
  }

  #details(): void {
    const view = this.#nodes.get(this.#selected);
    if (!view) return;
    const text = JSON.stringify({ ...view, ports: [] });
    if (text === this.#shown) return;
    this.#shown = text;
    byId('details').replaceChildren(...details(view));
  }

  #summary(): void {
    const all = [...this.#nodes.values()];
    const down = all.filter(({ status }) => status === 'down').map(({ name }) => name);
    const now = performance.now();
    for (const { name, ports } of all)
      if (ports.some((port) => levelOf(port) === 'notifying')) this.#deepAt.set(name, now);
    const deep = [...this.#deepAt].filter(([, at]) => now - at < CONGESTED_MS).map(([name]) => name);
    document.body.classList.toggle('congested', deep.length > 0);
    const trouble = down.length > 0 ? `${down.join(', ')} down` : '';
    const congested = deep.length > 0 ? `${deep.join(', ')} congested` : 'no queue above K_max';
    setText(byId('summary'), [congested, trouble].filter(Boolean).join(' · '));
  }
}

function follow(page: Page): void {
  const events = new EventSource('/events');
  const on = <T>(name: string, take: (data: T) => void): void =>
    events.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
  on<LabView>('lab', (lab) => page.lab(lab));
  on<NodeView[]>('nodes', (nodes) => page.nodes(nodes));
  on<TreeView[]>('trees', (trees) => page.trees(trees));
  on<NotificationView[]>('notifications', (notifications) => page.notifications(notifications));
  const state = (isLost: boolean, text: string): void => {
    document.body.classList.toggle('lost', isLost);
    setText(byId('link-state'), text);
  };
  events.addEventListener('open', () => state(false, 'live over gNMI'));
  events.addEventListener('error', () => state(true, 'the page has lost its server and tries again'));
}

follow(new Page());
