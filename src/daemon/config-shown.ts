// The configuration in force as it is shown, put together once for each.
import { shownConfig } from '../intent/effective.ts';
import type { ShownConfig } from '../model/config-change.ts';
import { CONFIG_SECTIONS, type ConfigurationState, JsonText, configField } from '../model/configuration-state.ts';

type Sections = Omit<ConfigurationState, 'persistent'>;

const sectionsOf = (tree: Readonly<Record<string, unknown>>): Sections =>
  Object.fromEntries(
    CONFIG_SECTIONS.filter((name) => tree[name] !== undefined && tree[name] !== null).map((name) => [
      configField(name),
      new JsonText(tree[name]),
    ]),
  );

export class ConfigShown {
  #text: string | undefined;
  #shown: ShownConfig | undefined;
  #sections: Sections | undefined;

  /** @param text a valid cnpd.yaml */
  of(text: string): ShownConfig {
    if (this.#shown && this.#text === text) return this.#shown;
    [this.#text, this.#sections] = [text, undefined];
    return (this.#shown = shownConfig(text));
  }

  /** By section, as gNMI serves it. */
  sections(text: string): Sections {
    const { tree } = this.of(text);
    return (this.#sections ??= sectionsOf(tree as Record<string, unknown>));
  }
}
