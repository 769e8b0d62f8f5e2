// For tests: a strict reader of OpenMetrics 1.0.0, written from the specification's grammar and not from the code that
// writes. It throws at the first thing that the specification does not allow.

export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadFamily {
  type: string;
  unit?: string;
  help?: string;
  readonly samples: ReadSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  info: ['_info'],
  stateset: [''],
};
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|NaN|\+Inf|-Inf)$/;

const bad = (line: string, why: string): never => {
  throw new Error(`${why}: ${JSON.stringify(line)}`);
};

function unescape(text: string, line: string): string {
  if (/\\(?![\\n"])|\\$/.test(text.replaceAll('\\\\', ''))) bad(line, 'unknown escape');
  return text.replaceAll(/\\([\\n"])/g, (_, one: string) => (one === 'n' ? '\n' : one));
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const match = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,(?=.)|$)/.exec(rest) ?? bad(line, 'label');
    if (match[1]! in labels) bad(line, 'a label twice');
    labels[match[1]!] = unescape(match[2]!, line);
    rest = rest.slice(match[0].length);
  }
  return labels;
}

function readSample(line: string): ReadSample {
  const match = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? bad(line, 'no sample');
  if (!NAME.test(match[1]!)) bad(line, 'name');
  if (!NUMBER.test(match[3]!)) bad(line, 'number');
  const value = Number(match[3]!.replace('Inf', 'Infinity'));
  return { name: match[1]!, labels: readLabels(match[2] ?? '', line), value };
}

function addMeta(families: Map<string, ReadFamily>, line: string, current: string | undefined): string {
  const match = /^# (TYPE|UNIT|HELP) (\S+) (.*)$/.exec(line) ?? bad(line, 'no metadata');
  const [, what, name, value] = match as unknown as [string, string, string, string];
  if (!NAME.test(name)) bad(line, 'name');
  if (what === 'TYPE') {
    if (families.has(name)) bad(line, 'a family twice, or in two places');
    if (!(value in SUFFIXES)) bad(line, 'type');
    families.set(name, { type: value, samples: [] });
    return name;
  }
  const family = families.get(name) ?? bad(line, 'no type before');
  if (name !== current || family.samples.length > 0) bad(line, 'metadata behind samples, or in between');
  if (what === 'UNIT') {
    if (family.unit !== undefined || !name.endsWith(`_${value}`)) bad(line, 'a unit that the name does not end with');
    family.unit = value;
  } else {
    if (family.help !== undefined) bad(line, 'help twice');
    family.help = unescape(value, line);
  }
  return name;
}

function check(family: ReadFamily, name: string): void {
  const seen = new Set<string>();
  for (const sample of family.samples) {
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(key)) bad(key, 'a series twice');
    seen.add(key);
    if (family.type === 'counter' && !(sample.value >= 0)) bad(key, 'a counter below 0');
    if (family.type === 'info' && sample.value !== 1) bad(key, 'info is 1');
    if (family.type === 'stateset' && (![0, 1].includes(sample.value) || !(name in sample.labels)))
      bad(key, 'a state set has a label of its own name, and 0 or 1');
  }
}

/** @throws Error that names the line */
export function readOpenMetrics(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('# EOF\n')) bad(text.slice(-40), 'no end');
  const families = new Map<string, ReadFamily>();
  let current: string | undefined;
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    if (line.startsWith('#')) {
      current = addMeta(families, line, current);
      continue;
    }
    const sample = readSample(line);
    const family = (current === undefined ? undefined : families.get(current)) ?? bad(line, 'no family');
    if (!SUFFIXES[family.type]!.some((suffix) => sample.name === `${current}${suffix}`))
      bad(line, 'not of this family');
    family.samples.push(sample);
  }
  // No family has the name of another one's samples.
  const names = new Set(families.keys());
  for (const [name, family] of families) {
    check(family, name);
    for (const suffix of ['_total', '_created', '_info', '_bucket', '_count', '_sum'])
      if (names.has(`${name}${suffix}`)) bad(name, `clashes with ${name}${suffix}`);
  }
  return families;
}
