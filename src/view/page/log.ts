// The latest notifications, the newest first; those that follow each other closely are one line.
import type { ToldView } from '../model.ts';
import { bytes, el, setText } from './dom.ts';
import { kindOf } from './motion.ts';

const MAX_LINES = 40;
const TOGETHER_MS = 2000;

const FORMAT: Readonly<Record<string, string>> = {
  proxy: 'notice to the proxy',
  'fast-cnp': 'Fast CNP',
  'long-haul-icmpv6': 'Long-haul CNP',
  'long-haul-roce': 'Long-haul CNP (RoCEv2)',
  'standard-cnp': 'standard CNP, in the receiver’s name',
};

interface Line {
  readonly key: string;
  readonly element: HTMLElement;
  readonly countText: HTMLElement;
  readonly why: HTMLElement;
  count: number;
  last: number;
}

const whyOf = ({ port, queueBytes, reason, format }: ToldView): string =>
  format === 'standard-cnp'
    ? FORMAT[format]!
    : `${FORMAT[format] ?? format}, ${reason}: ${port} held ${bytes(queueBytes)}`;

export class Log {
  readonly #root: HTMLElement;
  readonly #lines: Line[] = [];

  constructor(root: HTMLElement) {
    this.#root = root;
    root.replaceChildren(el('li', { class: 'empty' }, 'None yet. It stays quiet until a queue is deeper than K_max.'));
  }

  add(told: ToldView): void {
    const key = `${told.format} ${told.path.join(' ')}`;
    const same = this.#lines.find((line) => line.key === key && told.at - line.last < TOGETHER_MS);
    if (same) {
      same.count += told.count;
      same.last = told.at;
      setText(same.countText, `${same.count} ×`);
      setText(same.why, whyOf(told));
      return;
    }
    const countText = el('span', { class: 'count' }, `${told.count} ×`);
    const why = el('span', { class: 'why' }, whyOf(told));
    const way = told.path.length > 1 ? told.path.join(' → ') : `${told.path[0] ?? ''} → outside this lab`;
    const element = el('li', {}, el('i', { class: kindOf(told) }), el('span', {}, way), countText, why);
    if (this.#lines.length === 0) this.#root.replaceChildren();
    this.#lines.unshift({ key, element, countText, why, count: told.count, last: told.at });
    this.#root.prepend(element);
    for (const line of this.#lines.splice(MAX_LINES)) line.element.remove();
  }
}
