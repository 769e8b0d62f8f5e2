// Elements. Text from a router becomes text nodes and attributes only: nothing on this page is parsed as HTML.

type Attributes = Readonly<Record<string, string | number>>;
type Child = Node | string;

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export const el = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] => fill(document.createElement(name), attributes, children);

export const svg = <K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] => fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** @throws Error when the page has no such element: index.html and the scripts do not fit */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

export function setClass(element: Element, text: string): void {
  if (element.getAttribute('class') !== text) element.setAttribute('class', text);
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** `97.3 kB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${(count / 1000).toFixed(count < 1e5 ? 1 : 0)} kB` : `${(count / 1e6).toFixed(2)} MB`;
}
