// Which group's tree is shown.
import type { TreeView } from '../model.ts';
import { el } from './dom.ts';

export class TreeChoice {
  readonly #root: HTMLElement;
  readonly #onChoice: (tree: TreeView | undefined) => void;
  #trees: readonly TreeView[] = [];
  /** Proxy Address; empty: none. Undefined: nobody has chosen, and the first is shown. */
  #chosen: string | undefined;

  constructor(root: HTMLElement, onChoice: (tree: TreeView | undefined) => void) {
    this.#root = root;
    this.#onChoice = onChoice;
  }

  update(trees: readonly TreeView[]): void {
    this.#trees = trees;
    this.#root.hidden = trees.length === 0;
    const shown = this.#shown();
    const option = (value: string, text: string, isChosen: boolean): HTMLElement => {
      const input = el('input', { type: 'radio', name: 'tree', value });
      input.checked = isChosen;
      input.addEventListener('change', () => {
        this.#chosen = value;
        this.#onChoice(this.#shown());
      });
      return el('label', {}, input, text);
    };
    this.#root.replaceChildren(
      ...trees.map(({ group, name }) =>
        option(group, name ? `group ${name}` : `group ${group}`, shown?.group === group),
      ),
      option('', 'no tree', !shown),
    );
    this.#onChoice(shown);
  }

  #shown(): TreeView | undefined {
    return this.#chosen === undefined ? this.#trees[0] : this.#trees.find(({ group }) => group === this.#chosen);
  }
}
