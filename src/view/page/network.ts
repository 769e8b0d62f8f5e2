// The picture of the network: links, nodes that can be selected, gauges of watched ports, and the tree that is shown.
import type { LabView, NodeView, PortView, TreeView } from '../model.ts';
import { setClass, setText, svg } from './dom.ts';
import { Gauge, type Spot } from './gauge.ts';
import { Motion } from './motion.ts';

const BOX = { width: 88, height: 42 } as const;
/** Of a gauge: how far from the middle of its node, at most along its link, and how far from the link. */
const GAUGE = { right: 20, beside: 9, beyond: 62, most: 0.6, below: 100, above: 30 } as const;

/** Of a node that is as it should be nothing is said. */
const troubleOf = (status: NodeView['status']): string => (status === 'none' || status === 'running' ? '' : status);

const key = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);

interface Drawn {
  readonly group: SVGGElement;
  readonly role: SVGTextElement;
  view: NodeView | undefined;
}

export class Network {
  readonly motion: Motion;
  readonly #lab: LabView;
  readonly #onSelect: (name: string) => void;
  readonly #places: ReadonlyMap<string, Spot>;
  readonly #nodes = new Map<string, Drawn>();
  readonly #links = new Map<string, SVGLineElement>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #gaugeLayer = svg('g');
  readonly #arrowLayer = svg('g');
  #selected = '';
  #tree: TreeView | undefined;

  constructor(root: SVGElement | HTMLElement, lab: LabView, onSelect: (name: string) => void) {
    this.#lab = lab;
    this.#onSelect = onSelect;
    this.#places = new Map(lab.nodes.map(({ name, x, y }) => [name, { x, y }]));
    root.setAttribute('viewBox', `0 0 ${lab.width} ${lab.height}`);
    root.style.aspectRatio = `${lab.width} / ${lab.height}`;
    const linkLayer = svg('g', {}, ...lab.links.flatMap((link) => this.#drawLink(link)));
    const nodeLayer = svg('g', {}, ...lab.nodes.map((node) => this.#drawNode(node)));
    const dots = svg('g', { 'aria-hidden': 'true' });
    root.replaceChildren(linkLayer, this.#arrowLayer, dots, nodeLayer, this.#gaugeLayer);
    this.motion = new Motion(dots, this.#places, (a, b) => this.#links.get(key(a, b)));
  }

  #drawLink({ a, b, delayMs }: LabView['links'][number]): SVGElement[] {
    const [from, to] = [this.#places.get(a)!, this.#places.get(b)!];
    const line = svg('line', {
      class: delayMs > 0 ? 'link slow' : 'link',
      ...{ x1: from.x, y1: from.y, x2: to.x, y2: to.y },
    });
    this.#links.set(key(a, b), line);
    if (delayMs === 0) return [line];
    const isSteep = Math.abs(to.y - from.y) > Math.abs(to.x - from.x);
    const [x, y] = [(from.x + to.x) / 2 - (isSteep ? 28 : 0), (from.y + to.y) / 2 + (isSteep ? 4 : 20)];
    return [line, svg('text', { class: 'delay', x, y }, `${delayMs} ms`)];
  }

  #drawNode({ name, x, y }: LabView['nodes'][number]): SVGGElement {
    const role = svg('text', { class: 'role', x, y: y + BOX.height / 2 + 17 });
    const box = (className: string, grow: number): SVGRectElement =>
      svg('rect', {
        class: className,
        x: x - BOX.width / 2 - grow,
        y: y - BOX.height / 2 - grow,
        width: BOX.width + 2 * grow,
        height: BOX.height + 2 * grow,
        rx: 12 + grow,
      });
    const text = svg('text', { class: 'name', x, y: y + 6 }, name);
    if (name.length > 8) {
      text.setAttribute('textLength', String(BOX.width - 12));
      text.setAttribute('lengthAdjust', 'spacingAndGlyphs');
    }
    const group = svg('g', { tabindex: 0, role: 'button' }, box('ring', 5), box('box', 0), text, role);
    group.addEventListener('click', () => this.#onSelect(name));
    group.addEventListener('keydown', (event) => this.#onKey(event, name));
    this.#nodes.set(name, { group, role, view: undefined });
    return group;
  }

  /** Enter and Space select; the arrows go to the node that is nearest in their direction. */
  #onKey(event: KeyboardEvent, name: string): void {
    if (event.key === 'Enter' || event.key === ' ') this.#onSelect(name);
    else {
      const next = this.#towards(event.key, this.#places.get(name)!);
      if (next === undefined) return;
      this.#nodes.get(next)!.group.focus();
    }
    event.preventDefault();
  }

  #towards(arrow: string, from: Spot): string | undefined {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[arrow];
    if (!way) return undefined;
    let best: { name: string; cost: number } | undefined;
    for (const [name, { x, y }] of this.#places) {
      const [dx, dy] = [x - from.x, y - from.y];
      const along = dx * way[0]! + dy * way[1]!;
      const cost = along + 3 * Math.abs(dx * way[1]! + dy * way[0]!);
      if (along > 0 && (!best || cost < best.cost)) best = { name, cost };
    }
    return best?.name;
  }

  select(name: string): void {
    this.#selected = name;
    for (const one of this.#nodes.keys()) this.#restyle(one);
  }

  showNode(view: NodeView): void {
    const drawn = this.#nodes.get(view.name);
    if (!drawn) return;
    drawn.view = view;
    this.#restyle(view.name);
    const shown = new Set(view.ports.map((port) => `${view.name} ${port.interface}`));
    for (const [id, gauge] of this.#gauges)
      if (id.startsWith(`${view.name} `) && !shown.has(id)) {
        gauge.element.remove();
        this.#gauges.delete(id);
      }
    for (const port of view.ports) this.#showPort(view.name, port);
  }

  #showPort(node: string, port: PortView): void {
    const id = `${node} ${port.interface}`;
    let gauge = this.#gauges.get(id);
    if (!gauge) {
      gauge = new Gauge(this.#spotOf(node, port.peer));
      this.#gauges.set(id, gauge);
      this.#gaugeLayer.append(gauge.element);
    }
    gauge.show(node, port);
  }

  /** Above the link where there is an above, else to its right. */
  #spotOf(node: string, peer: string): Spot {
    const from = this.#places.get(node)!;
    const to = this.#places.get(peer) ?? { x: from.x + 1, y: from.y };
    const length = Math.max(1, Math.hypot(to.x - from.x, to.y - from.y));
    const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
    const isSteep = Math.abs(uy) > 0.7;
    const along = Math.min(GAUGE.most * length, GAUGE.beyond / Math.max(0.1, Math.abs(ux)));
    return isSteep
      ? { x: from.x + ux * GAUGE.beyond + GAUGE.right, y: from.y + (uy > 0 ? GAUGE.below : -GAUGE.above) }
      : { x: from.x + ux * along, y: from.y + uy * along - GAUGE.beside };
  }

  showTree(tree: TreeView | undefined): void {
    this.#tree = tree;
    const hops = new Set((tree?.hops ?? []).map(({ from, to }) => key(from, to)));
    for (const [id, line] of this.#links) line.classList.toggle('tree', hops.has(id));
    this.#arrowLayer.replaceChildren(...(tree?.hops ?? []).map(({ from, to }) => this.#arrow(from, to)));
    for (const name of this.#nodes.keys()) this.#restyle(name);
  }

  #arrow(from: string, to: string): SVGPathElement {
    const [a, b] = [this.#places.get(from)!, this.#places.get(to)!];
    const angle = (Math.atan2(b.y - a.y, b.x - a.x) * 180) / Math.PI;
    const [x, y] = [a.x + (b.x - a.x) * 0.56, a.y + (b.y - a.y) * 0.56];
    return svg('path', { class: 'arrow', d: 'M10 0L-8 -9L-8 9Z', transform: `translate(${x} ${y}) rotate(${angle})` });
  }

  #roleIn(name: string): string {
    const tree = this.#tree;
    if (!tree) return '';
    if (tree.root === name) return 'root';
    if (tree.source === name) return 'source';
    if (tree.branching.includes(name)) return 'copies';
    if (tree.edges.includes(name)) return 'edge';
    return tree.receivers.includes(name) ? 'receiver' : '';
  }

  #restyle(name: string): void {
    const { group, role, view } = this.#nodes.get(name)!;
    const kind = view?.kind ?? this.#lab.nodes.find((node) => node.name === name)!.kind;
    const status = view?.status ?? 'none';
    const inTree = this.#roleIn(name);
    const isSelected = this.#selected === name;
    const classes = ['node', kind, status, isSelected && 'selected', inTree && 'in-tree'];
    setClass(group, classes.filter(Boolean).join(' '));
    group.setAttribute('aria-pressed', String(isSelected));
    const trouble = troubleOf(status);
    group.setAttribute('aria-label', [name, kind, trouble, inTree].filter(Boolean).join(', '));
    setText(role, trouble || inTree || (view && view.answersFor.length > 0 ? 'answers for senders' : ''));
  }
}
