// Notifications on their way: a dot that travels along links, and the links light up. Without motion where the reader
// has asked for none: then only the links do.
import type { NotificationView } from '../model.ts';
import { svg } from './dom.ts';
import type { Spot } from './gauge.ts';

/** Time for a link. */
const HOP_MS = 380;
const LIT_MS = 700;
/** More are not drawn at the same time: links light up all the same. */
const MAX_DOTS = 48;
/** Of one way. Further notifications in this time are in the list alone. */
const APART_MS = 220;

interface Dot {
  readonly element: SVGCircleElement;
  readonly spots: readonly Spot[];
  readonly from: number;
}

/** To a proxy, or to whom it is about. */
export const kindOf = ({ format }: Pick<NotificationView, 'format'>): 'notice' | 'cnp' =>
  format === 'proxy' ? 'notice' : 'cnp';

export class Motion {
  readonly #layer: SVGGElement;
  readonly #places: ReadonlyMap<string, Spot>;
  readonly #linkOf: (a: string, b: string) => SVGLineElement | undefined;
  readonly #dots: Dot[] = [];
  readonly #last = new Map<string, number>();
  readonly #dark = new Map<SVGLineElement, ReturnType<typeof setTimeout>>();
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)');
  #isRunning = false;

  constructor(
    layer: SVGGElement,
    places: ReadonlyMap<string, Spot>,
    linkOf: (a: string, b: string) => SVGLineElement | undefined,
  ) {
    this.#layer = layer;
    this.#places = places;
    this.#linkOf = linkOf;
  }

  show(sent: NotificationView): void {
    if (sent.path.length < 2 || document.hidden) return;
    const kind = kindOf(sent);
    for (const [i, name] of sent.path.entries()) if (i > 0) this.#light(sent.path[i - 1]!, name, kind);
    const way = `${kind} ${sent.path.join(' ')}`;
    const now = performance.now();
    if (this.#still.matches || this.#dots.length >= MAX_DOTS || now - (this.#last.get(way) ?? -Infinity) < APART_MS)
      return;
    this.#last.set(way, now);
    const spots = sent.path.flatMap((name) => this.#places.get(name) ?? []);
    const element = svg('circle', { class: `dot ${kind}`, r: 6 + Math.min(4, Math.log2(sent.count)) });
    this.#layer.append(element);
    this.#dots.push({ element, spots, from: now });
    if (!this.#isRunning) this.#frame(now);
  }

  #light(a: string, b: string, kind: 'notice' | 'cnp'): void {
    const line = this.#linkOf(a, b);
    if (!line) return;
    line.classList.add('lit');
    line.classList.toggle('to-sender', kind === 'cnp');
    clearTimeout(this.#dark.get(line));
    this.#dark.set(
      line,
      setTimeout(() => line.classList.remove('lit', 'to-sender'), LIT_MS),
    );
  }

  readonly #frame = (now: number): void => {
    for (const dot of [...this.#dots]) {
      const at = Math.max(0, now - dot.from) / HOP_MS;
      const hop = Math.floor(at);
      const [from, to] = [dot.spots[hop], dot.spots[hop + 1]];
      if (!from || !to) {
        dot.element.remove();
        this.#dots.splice(this.#dots.indexOf(dot), 1);
        continue;
      }
      dot.element.setAttribute('cx', (from.x + (to.x - from.x) * (at - hop)).toFixed(1));
      dot.element.setAttribute('cy', (from.y + (to.y - from.y) * (at - hop)).toFixed(1));
    }
    this.#isRunning = this.#dots.length > 0;
    if (this.#isRunning) requestAnimationFrame(this.#frame);
  };
}
