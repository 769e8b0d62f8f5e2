// The latest notifications, the newest first; those that follow each other closely are one line.
import type { NotificationView } from '../model.ts';
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

const whyOf = ({ port, queueBytes, reason, format }: NotificationView): string =>
  format === 'standard-cnp'
    ? FORMAT[format]!
    : `${FORMAT[format] ?? format}, ${reason}: ${port} held ${bytes(queueBytes)}`;

export class Log {
  readonly #root: HTMLElement;
  readonly #lines: Line[] = [];

  constructor(root: HTMLElement) {
    this.#root = root;
    root.replaceChildren(
      el(
        'li',
        { class: 'empty' },
        'None since the page was opened. It stays quiet until a queue is deeper than K_max.',
      ),
    );
  }

  add(sent: NotificationView): void {
    const key = `${sent.format} ${sent.path.join(' ')}`;
    const same = this.#lines.find((line) => line.key === key && sent.at - line.last < TOGETHER_MS);
    if (same) {
      same.count += sent.count;
      same.last = sent.at;
      setText(same.countText, `${same.count} ×`);
      setText(same.why, whyOf(sent));
      return;
    }
    const countText = el('span', { class: 'count' }, `${sent.count} ×`);
    const why = el('span', { class: 'why' }, whyOf(sent));
    const way = sent.path.length > 1 ? sent.path.join(' → ') : `${sent.path[0] ?? ''} → outside this lab`;
    const element = el('li', {}, el('i', { class: kindOf(sent) }), el('span', {}, way), countText, why);
    if (this.#lines.length === 0) this.#root.replaceChildren();
    this.#lines.unshift({ key, element, countText, why, count: sent.count, last: sent.at });
    this.#root.prepend(element);
    for (const line of this.#lines.splice(MAX_LINES)) line.element.remove();
  }
}
