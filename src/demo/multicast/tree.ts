// The tree of a run as SVG text: nodes, and on each link how many packets went down and up. The width of a link is its
// packets downwards. Nothing is loaded from anywhere. Pure.
import { escapeXml } from '../chart.ts';
import type { LinkResult } from './results.ts';

const SIZE = { width: 540, level: 84, top: 20, bottom: 18 } as const;
const NODE = { width: 44, height: 24 } as const;
const WIDEST = 16;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Where each node is: leaves side by side, a parent above the middle of its children. */
export function places(links: readonly Pick<LinkResult, 'from' | 'to'>[]): ReadonlyMap<string, Place> {
  const children = (node: string): string[] => links.filter(({ from }) => from === node).map(({ to }) => to);
  const roots = links.map(({ from }) => from).filter((node) => !links.some(({ to }) => to === node));
  const leaves = links.map(({ to }) => to).filter((node) => children(node).length === 0);
  const found = new Map<string, Place>();
  const place = (node: string, depth: number): number => {
    const below = children(node).map((child) => place(child, depth + 1));
    const x =
      below.length > 0
        ? (Math.min(...below) + Math.max(...below)) / 2
        : ((leaves.indexOf(node) + 0.5) * SIZE.width) / leaves.length;
    found.set(node, { x, y: SIZE.top + depth * SIZE.level });
    return x;
  };
  for (const root of new Set(roots)) place(root, 0);
  return found;
}

/** @param most packets downwards that make the widest link, the same for trees that are compared */
export function treeSvg(title: string, links: readonly LinkResult[], most: number): string {
  const at = places(links);
  const height = Math.max(...[...at.values()].map(({ y }) => y)) + SIZE.bottom;
  const lines = links.map(({ from, to, down, up }) => {
    const [a, b] = [at.get(from)!, at.get(to)!];
    const [x, y] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
    const width = Math.max(1, (down / Math.max(1, most)) * WIDEST).toFixed(1);
    return (
      `<line x1="${a.x}" y1="${a.y}" x2="${b.x}" y2="${b.y}" stroke="#7fb3d9" stroke-width="${width}">` +
      `<title>${escapeXml(`${from} – ${to}: ${down} packets down, ${up} up`)}</title></line>` +
      `<text class="note" text-anchor="middle" x="${x}" y="${y}" dy="-2" ` +
      `paint-order="stroke" stroke="#fff" stroke-width="5">↓ ${down}</text>` +
      `<text class="note" text-anchor="middle" x="${x}" y="${y}" dy="11" ` +
      `paint-order="stroke" stroke="#fff" stroke-width="5">↑ ${up}</text>`
    );
  });
  const nodes = [...at].map(
    ([name, { x, y }]) =>
      `<rect x="${x - NODE.width / 2}" y="${y - NODE.height / 2}" width="${NODE.width}" height="${NODE.height}" ` +
      `rx="${name.startsWith('n') ? 4 : 12}" fill="#fff" stroke="#555"/>` +
      `<text class="label" text-anchor="middle" x="${x}" y="${y}" dy="4">${escapeXml(name)}</text>`,
  );
  return (
    `<svg viewBox="0 0 ${SIZE.width} ${height}" role="img" aria-label="${escapeXml(title)}">\n` +
    `${[...lines, ...nodes].join('\n')}\n</svg>`
  );
}
