// Where the nodes of a topology are drawn: a pure function of the order of nodes and links in its file, so that a lab
// looks the same at every start. Stress majorization (Gansner, Koren and North, 2004): distances on the page approach
// those in the graph. The longest extent is then turned to be horizontal, with the file's first node on the left.

export interface Place {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly places: readonly Place[];
}

interface Edge {
  readonly a: string;
  readonly b: string;
}

type Point = [x: number, y: number];

const ROUNDS = 200;
/** Of two nodes that share a link, and of any two at least; in units of the picture. */
const LINK_LENGTH = 150;
const LEAST_DISTANCE = 96;
const MARGIN = { x: 80, y: 70 } as const;
/** Of any two nodes, in lengths of a link. */
const APART = 0.72;
/** Nodes that no path joins are kept so much farther apart than the farthest that one does. */
const GAP = 1;

/** Links on a shortest path, for every pair; parts of the graph that are not connected lie beside each other. */
function distances(count: number, neighbors: readonly (readonly number[])[]): number[][] {
  const all = Array.from({ length: count }, (_, from) => {
    const found = new Array<number>(count).fill(Infinity);
    found[from] = 0;
    for (const queue = [from]; queue.length > 0;) {
      const at = queue.shift()!;
      for (const next of neighbors[at]!) {
        if (found[next] !== Infinity) continue;
        found[next] = found[at]! + 1;
        queue.push(next);
      }
    }
    return found;
  });
  const apart = Math.max(1, ...all.flat().filter(Number.isFinite)) + GAP;
  return all.map((row) => row.map((d) => (Number.isFinite(d) ? d : apart)));
}

/** The end of a longest shortest path; the first in the file's order. */
function farthest(all: readonly (readonly number[])[]): number {
  const reach = all.map((row) => Math.max(...row));
  return reach.indexOf(Math.max(...reach));
}

/** By distance from one end; those of equal distance above each other, evenly around the middle. */
function start(all: readonly (readonly number[])[]): Point[] {
  const layers = all[farthest(all)]!;
  const sizes = new Map<number, number>();
  const within = layers.map((layer) => {
    const index = sizes.get(layer) ?? 0;
    sizes.set(layer, index + 1);
    return index;
  });
  return layers.map((layer, i): Point => [layer, within[i]! - (sizes.get(layer)! - 1) / 2]);
}

/** Each node moves to where the others, at their right distance, would have it on average. */
function settle(points: readonly Point[], all: readonly (readonly number[])[]): Point[] {
  return points.map(([x, y], i): Point => {
    let [sumX, sumY, weights] = [0, 0, 0];
    for (const [j, [otherX, otherY]] of points.entries()) {
      if (i === j) continue;
      const wanted = all[i]![j]!;
      const weight = 1 / (wanted * wanted);
      const [dx, dy] = [x - otherX, y - otherY];
      const ratio = wanted / Math.max(1e-6, Math.hypot(dx, dy));
      sumX += weight * (otherX + dx * ratio);
      sumY += weight * (otherY + dy * ratio);
      weights += weight;
    }
    return weights === 0 ? [x, y] : [sumX / weights, sumY / weights];
  });
}

/** Turned until the longest extent is horizontal, and mirrored until the first node is left, and not below. */
function turned(points: readonly Point[]): Point[] {
  const middle = (axis: 0 | 1): number => points.reduce((sum, p) => sum + p[axis], 0) / points.length;
  const [middleX, middleY] = [middle(0), middle(1)];
  const centered = points.map(([x, y]): Point => [x - middleX, y - middleY]);
  const sum = (value: (x: number, y: number) => number): number => centered.reduce((s, [x, y]) => s + value(x, y), 0);
  const angle =
    Math.atan2(
      2 * sum((x, y) => x * y),
      sum((x, y) => x * x - y * y),
    ) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const flat = centered.map(([x, y]): Point => [x * cos + y * sin, y * cos - x * sin]);
  const [mirrorX, mirrorY] = [flat[0]![0] > 0 ? -1 : 1, flat[0]![1] > 1e-9 ? -1 : 1];
  return flat.map(([x, y]): Point => [x * mirrorX, y * mirrorY]);
}

/**
 * Nodes with the same neighbors, such as the spines of a fabric, come to lie upon each other: they move apart, and
 * others give way.
 */
function separated(points: readonly Point[]): Point[] {
  const now = points.map(([x, y]): Point => [x, y]);
  const push = (i: number, j: number): void => {
    const [a, b] = [now[i]!, now[j]!];
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const distance = Math.hypot(dx, dy);
    if (distance >= APART) return;
    // Of two in one place the order decides.
    const angle = distance > 1e-6 ? Math.atan2(dy, dx) : i + j;
    const step = (APART - distance) / 2;
    const [stepX, stepY] = [Math.cos(angle) * step, Math.sin(angle) * step];
    now[i] = [a[0] - stepX, a[1] - stepY];
    now[j] = [b[0] + stepX, b[1] + stepY];
  };
  for (let round = 0; round < ROUNDS; round++)
    for (let i = 0; i < now.length; i++) for (let j = i + 1; j < now.length; j++) push(i, j);
  return now;
}

function leastDistance(points: readonly Point[]): number {
  let least = Infinity;
  for (const [i, [x, y]] of points.entries())
    for (const [otherX, otherY] of points.slice(i + 1)) least = Math.min(least, Math.hypot(x - otherX, y - otherY));
  return least;
}

export function layout(names: readonly string[], links: readonly Edge[]): Layout {
  if (names.length === 0) return { width: 2 * MARGIN.x, height: 2 * MARGIN.y, places: [] };
  const index = new Map(names.map((name, i) => [name, i]));
  const neighbors = names.map((name) =>
    links.flatMap(({ a, b }) => (a === name ? [index.get(b)!] : b === name ? [index.get(a)!] : [])),
  );
  const all = distances(names.length, neighbors);
  let points = start(all);
  for (let round = 0; round < ROUNDS; round++) points = settle(points, all);
  points = turned(separated(points));
  const scale = Math.max(LINK_LENGTH, LEAST_DISTANCE / Math.max(0.05, leastDistance(points)));
  const [left, top] = [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))];
  const places = points.map(([x, y], i) => ({
    name: names[i]!,
    x: Math.round(MARGIN.x + (x - left) * scale),
    y: Math.round(MARGIN.y + (y - top) * scale),
  }));
  return {
    width: Math.max(...places.map(({ x }) => x)) + MARGIN.x,
    height: Math.max(...places.map(({ y }) => y)) + MARGIN.y,
    places,
  };
}
