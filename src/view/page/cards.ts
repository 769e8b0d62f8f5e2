// Each watched queue over the last half minute, with its thresholds.
import type { NodeView, PortView } from '../model.ts';
import { bytes, el, setClass, setText, svg } from './dom.ts';
import { levelOf } from './levels.ts';

const SPAN_MS = 30_000;
const REDRAW_MS = 200;
const SIZE = { width: 300, height: 100 } as const;
const MAX_POINTS = 600;

class Card {
  readonly element: HTMLElement;
  readonly #points: [at: number, depth: number][] = [];
  readonly #output = el('output');
  readonly #facts = el('div', { class: 'facts' });
  readonly #area = svg('path', { class: 'area' });
  readonly #curve = svg('path', { class: 'curve' });
  readonly #levels = [svg('line', { class: 'level' }), svg('line', { class: 'level max' })];
  #port: PortView;

  constructor(node: string, port: PortView) {
    this.#port = port;
    const chart = svg(
      'svg',
      { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      this.#area,
      ...this.#levels,
      this.#curve,
    );
    const name = el('b', {}, `${node} ${port.interface}`);
    const to = el('span', { class: 'soft' }, port.peer && `to ${port.peer}`);
    this.element = el('figure', { class: 'card' }, el('figcaption', {}, name, to, this.#output), chart, this.#facts);
  }

  update(port: PortView): void {
    this.#port = port;
    this.#points.push([performance.now(), port.queueBytes]);
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    setText(this.#output, bytes(port.queueBytes));
    setClass(this.#output, levelOf(port));
    const thresholds =
      port.kMax > 0 ? `K_min ${bytes(port.kMin)}, K_max ${bytes(port.kMax)}` : `K_min ${bytes(port.kMin)}`;
    const rtt = port.rttMs === null ? '' : ` · RTT ${port.rttMs.toFixed(1)} ms`;
    const deferred = port.deferred > 0 ? ` · ${port.deferred} held back` : '';
    setText(
      this.#facts,
      `${thresholds}${rtt} · ${port.notifications} notifications${deferred} · ${port.ceMarked} marked`,
    );
  }

  draw(now: number): void {
    const { kMin, kMax } = this.#port;
    // The last value before the span is where the curve begins.
    const first = Math.max(
      0,
      this.#points.findLastIndex(([at]) => at <= now - SPAN_MS),
    );
    this.#points.splice(0, first);
    const top = 1.15 * Math.max(1, 1.2 * kMax, 1.5 * kMin, ...this.#points.map(([, depth]) => depth));
    const x = (at: number): string => Math.max(0, SIZE.width * (1 - (now - at) / SPAN_MS)).toFixed(1);
    const y = (depth: number): string => (SIZE.height * (1 - depth / top)).toFixed(1);
    let path = '';
    for (const [i, [at, depth]] of this.#points.entries())
      path += i === 0 ? `M${x(at)} ${y(depth)}` : `H${x(at)}V${y(depth)}`;
    if (path !== '') path += `H${SIZE.width}`;
    this.#curve.setAttribute('d', path);
    this.#area.setAttribute('d', path && `${path}V${SIZE.height}H${x(this.#points[0]![0])}Z`);
    for (const [i, depth] of [kMin, kMax].entries()) {
      const line = this.#levels[i]!;
      for (const [name, value] of Object.entries({ x1: 0, x2: SIZE.width, y1: y(depth), y2: y(depth) }))
        line.setAttribute(name, String(value));
      line.setAttribute('visibility', depth > 0 ? 'visible' : 'hidden');
    }
  }
}

export class Cards {
  readonly #root: HTMLElement;
  readonly #cards = new Map<string, Card>();
  readonly #empty = el('p', { class: 'empty' }, 'No port is watched.');

  constructor(root: HTMLElement) {
    this.#root = root;
    root.replaceChildren(this.#empty);
    setInterval(() => {
      if (document.hidden) return;
      for (const card of this.#cards.values()) card.draw(performance.now());
    }, REDRAW_MS);
  }

  update({ name, ports }: NodeView): void {
    const shown = new Set(ports.map((port) => `${name} ${port.interface}`));
    for (const [id, card] of this.#cards)
      if (id.startsWith(`${name} `) && !shown.has(id)) {
        card.element.remove();
        this.#cards.delete(id);
      }
    for (const port of ports) {
      const id = `${name} ${port.interface}`;
      let card = this.#cards.get(id);
      if (!card) {
        card = new Card(name, port);
        this.#cards.set(id, card);
        this.#root.append(card.element);
      }
      card.update(port);
    }
    this.#empty.hidden = this.#cards.size > 0;
  }
}
