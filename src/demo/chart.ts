// Line charts as SVG text: axes with round numbers and units, a grid, curves, reference lines, marks. Nothing is loaded
// from anywhere. Pure.
import type { Point } from './results.ts';

export interface Curve {
  readonly name: string;
  readonly color: string;
  readonly points: readonly Point[];
  /** Behind the others. */
  readonly faint?: boolean;
}

export interface Chart {
  readonly title: string;
  /** With its unit. */
  readonly yLabel: string;
  /** In seconds if `xUnit` is s; points are always in ms. */
  readonly xUnit: 's' | 'ms';
  /** ms. */
  readonly xMax: number;
  /** Value on the axis = value of the point × scale. */
  readonly yScale: number;
  /** In units of the points: what is above is cut off. Default: the highest point. */
  readonly yTop?: number;
  /** A logarithmic axis from here, in units of the points: what is below lies on the axis, 0 included. */
  readonly yFloor?: number;
  readonly curves: readonly Curve[];
  readonly levels?: readonly { readonly value: number; readonly label: string }[];
  readonly marks?: readonly { readonly t: number; readonly label: string; readonly color: string }[];
}

const SIZE = { width: 920, height: 260, left: 64, right: 16, top: 14, bottom: 38 } as const;
const PLOT = { width: SIZE.width - SIZE.left - SIZE.right, height: SIZE.height - SIZE.top - SIZE.bottom } as const;

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Round steps (1, 2, 5 × 10ⁿ) from 0 that cover `max` in about `count` steps. */
export function ticks(max: number, count: number): number[] {
  if (!(max > 0)) return [0, 1];
  const raw = max / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw)!;
  const n = Math.ceil(max / step - 1e-9);
  return Array.from({ length: n + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

const one = (value: number): string => String(Math.round(value * 10) / 10);

function path(points: readonly Point[], x: (t: number) => number, y: (v: number) => number): string {
  return points.map(([t, v], i) => `${i === 0 ? 'M' : 'L'}${one(x(t))} ${one(y(v))}`).join('');
}

/** Bounds of the plot in the picture. */
const BOTTOM = SIZE.top + PLOT.height;
const RIGHT = SIZE.left + PLOT.width;

interface Scales {
  /** Values on the axes where grid lines are. */
  readonly xTicks: readonly number[];
  readonly yTicks: readonly number[];
  /** Value on the x axis = ms × xScale. */
  readonly xScale: number;
  readonly x: (t: number) => number;
  readonly y: (v: number) => number;
}

/** Powers of ten from `floor` to the first that covers `max`. */
export function decades(floor: number, max: number): number[] {
  const first = Math.log10(floor);
  const count = Math.max(1, Math.ceil(Math.log10(Math.max(max, floor)) - first - 1e-9));
  return Array.from({ length: count + 1 }, (_, i) => Number((floor * 10 ** i).toPrecision(12)));
}

function scalesOf({ curves, levels = [], xMax, xUnit, yScale, yTop, yFloor }: Chart): Scales {
  const highest =
    yTop !== undefined
      ? yTop * yScale
      : Math.max(
          1e-9,
          ...curves.flatMap((c) => c.points.map(([, v]) => v * yScale)),
          ...levels.map((l) => l.value * yScale),
        );
  const floor = yFloor === undefined ? undefined : yFloor * yScale;
  const yTicks = floor === undefined ? ticks(highest, 5) : decades(floor, highest);
  const yMax = yTicks.at(-1)!;
  const xScale = xUnit === 's' ? 1 / 1000 : 1;
  const part = (value: number): number =>
    floor === undefined ? value / yMax : Math.log(Math.max(value, floor) / floor) / Math.log(yMax / floor);
  return {
    xTicks: ticks(xMax * xScale, 12).filter((v) => v / xScale <= xMax * 1.0001),
    yTicks,
    xScale,
    x: (t) => SIZE.left + (t / xMax) * PLOT.width,
    y: (v) => SIZE.top + PLOT.height * (1 - part(v * yScale)),
  };
}

const grid = ({ yScale, yFloor }: Chart, { xTicks, yTicks, xScale, x, y }: Scales): string[] => [
  ...yTicks.map((v, i) => {
    const at = one(y(v / yScale));
    const text = i === 0 && yFloor !== undefined ? `≤ ${v}` : String(v);
    return (
      `<line class="grid" x1="${SIZE.left}" x2="${RIGHT}" y1="${at}" y2="${at}"/>` +
      `<text class="tick" text-anchor="end" x="${SIZE.left - 6}" y="${at}" dy="4">${text}</text>`
    );
  }),
  ...xTicks.map((v) => {
    const at = one(x(v / xScale));
    return (
      `<line class="grid" x1="${at}" x2="${at}" y1="${SIZE.top}" y2="${BOTTOM}"/>` +
      `<text class="tick" text-anchor="middle" x="${at}" y="${BOTTOM + 16}">${v}</text>`
    );
  }),
];

const referenceLines = ({ levels = [] }: Chart, { y }: Scales): string[] =>
  levels.map((l) => {
    const at = one(y(l.value));
    return (
      `<line class="level" x1="${SIZE.left}" x2="${RIGHT}" y1="${at}" y2="${at}"/>` +
      `<text class="note" text-anchor="end" x="${RIGHT - 4}" y="${at}" dy="-4">${escapeXml(l.label)}</text>`
    );
  });

const markLines = ({ marks = [], xMax }: Chart, { x }: Scales): string[] =>
  marks
    .filter((m) => m.t >= 0 && m.t <= xMax)
    .map((m, i) => {
      const at = one(x(m.t));
      const line =
        `<line x1="${at}" x2="${at}" y1="${SIZE.top}" y2="${BOTTOM}" stroke="${m.color}" stroke-width="1.5" ` +
        'stroke-dasharray="5 3"/>';
      return (
        `${line}<text class="note" x="${at}" dx="5" ` + `y="${SIZE.top + 13 + i * 15}">${escapeXml(m.label)}</text>`
      );
    });

const curveLines = ({ curves }: Chart, { x, y }: Scales): string[] =>
  curves.map(
    (c) =>
      `<path d="${path(c.points, x, y)}" fill="none" stroke="${c.color}" stroke-width="${c.faint ? 1 : 1.8}" ` +
      `${c.faint ? 'opacity="0.45" ' : ''}stroke-linejoin="round"><title>${escapeXml(c.name)}</title></path>`,
  );

const axes = ({ xUnit, yLabel }: Chart): string[] => [
  `<line class="axis" x1="${SIZE.left}" x2="${RIGHT}" y1="${BOTTOM}" y2="${BOTTOM}"/>` +
    `<line class="axis" x1="${SIZE.left}" x2="${SIZE.left}" y1="${SIZE.top}" y2="${BOTTOM}"/>`,
  `<text class="label" text-anchor="middle" x="${SIZE.left + PLOT.width / 2}" y="${SIZE.height - 4}">time ` +
    `since the first data packet, ${xUnit}</text>`,
  `<text class="label" text-anchor="middle" transform="translate(14 ${SIZE.top + PLOT.height / 2}) ` +
    `rotate(-90)">${escapeXml(yLabel)}</text>`,
];

export function chartSvg(whole: Chart): string {
  const inRange = (points: readonly Point[]): Point[] => points.filter(([t]) => t >= 0 && t <= whole.xMax);
  const chart = { ...whole, curves: whole.curves.map((c) => ({ ...c, points: inRange(c.points) })) };
  const scales = scalesOf(chart);
  const id = `clip-${chart.title.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
  return [
    `<svg viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${escapeXml(chart.title)}">`,
    ...grid(chart, scales),
    ...referenceLines(chart, scales),
    `<clipPath id="${id}"><rect x="${SIZE.left}" y="${SIZE.top - 1}" width="${PLOT.width}" ` +
      `height="${PLOT.height + 2}"/></clipPath><g clip-path="url(#${id})">`,
    ...curveLines(chart, scales),
    '</g>',
    ...markLines(chart, scales),
    ...axes(chart),
    '</svg>',
  ].join('\n');
}
