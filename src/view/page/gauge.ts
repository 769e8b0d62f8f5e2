// The gauge of a watched port, beside its end of the link.
import type { PortView } from '../model.ts';
import { bytes, setClass, setText, svg } from './dom.ts';
import { gaugeTop, levelOf } from './levels.ts';

const WIDTH = 13;
const HEIGHT = 46;

export interface Spot {
  readonly x: number;
  readonly y: number;
}

export class Gauge {
  readonly element: SVGGElement;
  readonly #fill = svg('rect', { class: 'fill calm', width: WIDTH - 4, rx: 2, height: 0 });
  readonly #levels = [svg('line', { class: 'level' }), svg('line', { class: 'level' })];
  readonly #text = svg('text');
  readonly #title = svg('title');
  readonly #bottom: number;

  /** @param spot the middle of its bottom */
  constructor({ x, y }: Spot) {
    this.#bottom = y;
    const left = x - WIDTH / 2;
    this.#fill.setAttribute('x', String(left + 2));
    for (const level of this.#levels) {
      level.setAttribute('x1', String(left - 4));
      level.setAttribute('x2', String(left + WIDTH + 4));
    }
    const frame = svg('rect', { class: 'frame', x: left, y: y - HEIGHT, width: WIDTH, height: HEIGHT, rx: 4 });
    this.#text.setAttribute('x', String(x));
    this.#text.setAttribute('y', String(y - HEIGHT - 7));
    this.element = svg('g', { class: 'gauge' }, this.#title, frame, this.#fill, ...this.#levels, this.#text);
  }

  show(node: string, port: PortView): void {
    const inside = HEIGHT - 4;
    const part = (depth: number): number => Math.min(1, depth / gaugeTop(port)) * inside;
    const height = part(port.queueBytes);
    this.#fill.setAttribute('height', height.toFixed(1));
    this.#fill.setAttribute('y', (this.#bottom - 2 - height).toFixed(1));
    setClass(this.#fill, `fill ${levelOf(port)}`);
    for (const [i, depth] of [port.kMin, port.kMax].entries()) {
      const y = (this.#bottom - 2 - part(depth)).toFixed(1);
      this.#levels[i]!.setAttribute('y1', y);
      this.#levels[i]!.setAttribute('y2', y);
      this.#levels[i]!.setAttribute('visibility', depth > 0 ? 'visible' : 'hidden');
    }
    setText(this.#text, bytes(port.queueBytes));
    setText(
      this.#title,
      `${node} ${port.interface}: ${bytes(port.queueBytes)}, K_min ${bytes(port.kMin)}, K_max ${bytes(port.kMax)}`,
    );
    this.element.setAttribute('data-port', `${node} ${port.interface}`);
    this.element.setAttribute('data-bytes', String(port.queueBytes));
  }
}
