// The configuration in force as it is shown, put together once for each.
import { shownConfig } from '../intent/effective.ts';
import type { ShownConfig } from '../model/config-change.ts';
import { CONFIG_SECTIONS, type ConfigurationState, JsonText, configField } from '../model/configuration-state.ts';
import { type Work, finish } from '../model/work.ts';

type Sections = Omit<ConfigurationState, 'persistent'>;

const sectionsOf = (tree: Readonly<Record<string, unknown>>): Sections =>
  Object.fromEntries(
    CONFIG_SECTIONS.filter((name) => tree[name] !== undefined && tree[name] !== null).map((name) => [
      configField(name),
      new JsonText(tree[name]),
    ]),
  );

/** In one turn of the event loop. */
const BUDGET_MS = 4;

export class ConfigShown {
  readonly #work: Work;
  #text: string | undefined;
  #shown: Promise<ShownConfig> | undefined;
  #sections: Promise<Sections> | undefined;

  constructor(work: Work) {
    this.#work = work;
  }

  /** @param text a valid cnpd.yaml */
  of(text: string): Promise<ShownConfig> {
    if (this.#shown && this.#text === text) return this.#shown;
    [this.#text, this.#sections] = [text, undefined];
    return (this.#shown = finish(this.#work, shownConfig(text), BUDGET_MS));
  }

  /** By section, as gNMI serves it. */
  sections(text: string): Promise<Sections> {
    const shown = this.of(text);
    return (this.#sections ??= shown.then(({ tree }) => sectionsOf(tree as Record<string, unknown>)));
  }
}
