// The picture of a scene's network in its report: SVG text from the topology file. Pure, but for reading that file.
import { readTopology } from '../lab/lab.ts';
import { layout } from '../view/layout.ts';
import { escapeXml } from './chart.ts';
import type { DemoReport, Drawing } from './results.ts';

export function drawingOf(file: string): Drawing {
  const { nodes, links } = readTopology(file);
  return {
    nodes: nodes.map(({ name }) => name),
    links: links.map(({ a, b, delayMs }) => ({
      a: a.node,
      b: b.node,
      label: delayMs > 0 ? `${delayMs} ms` : '',
    })),
  };
}

type Marks = Pick<DemoReport, 'drawing' | 'ports' | 'proxy'>;

/** What a node has to do with the scene, below its name. */
function roleOf(name: string, { ports, proxy }: Marks): string {
  if (name === proxy) return 'proxy';
  const port = ports.find((one) => one.name.startsWith(`${name} `));
  return port ? `congested, ${port.rateBps / 1e6} Mbit/s` : '';
}

export function drawingSvg(marks: Marks): string {
  const { nodes, links } = marks.drawing;
  const { width, height, places } = layout(nodes, links);
  const at = new Map(places.map((place) => [place.name, place]));
  const lines = links.map(({ a, b, label }) => {
    const [from, to] = [at.get(a)!, at.get(b)!];
    const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
    const text = label && `<text class="note" text-anchor="middle" x="${x}" y="${y - 10}">${escapeXml(label)}</text>`;
    return `<line class="${label ? 'wan' : 'link'}" x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>${text}`;
  });
  const boxes = places.map(({ name, x, y }) => {
    const role = roleOf(name, marks);
    return (
      `<rect class="${role ? 'node role' : 'node'}" x="${x - 34}" y="${y - 18}" width="68" height="36" rx="10"/>` +
      `<text class="name" text-anchor="middle" x="${x}" y="${y + 5}">${escapeXml(name)}</text>` +
      (role && `<text class="note" text-anchor="middle" x="${x}" y="${y + 38}">${escapeXml(role)}</text>`)
    );
  });
  return (
    `<svg class="drawing" viewBox="0 0 ${width} ${height}" role="img" aria-label="The network">` +
    `${lines.join('')}${boxes.join('')}</svg>`
  );
}
