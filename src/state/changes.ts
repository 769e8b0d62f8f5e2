// The difference of two plans, by plane: what an intent would do in place of another. Pure.
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { Advertisement, Origination } from '../model/advertisement.ts';
import {
  type ChangedEntry,
  type Changes,
  MOST_ENTRIES,
  PLANES,
  type Plane,
  type PlaneChanges,
} from '../model/config-change.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { Steps } from '../model/work.ts';
import type { DesiredState, SenderProxies, SenderProxyPlan } from '../plan/desired.ts';
import { plannedAttachments } from '../reconcile/planned-attachments.ts';

/** What an intent leads to. */
export interface Outcome {
  readonly desired: DesiredState;
  readonly origination: Origination;
}

/** An object of the kernel or of the network. `key` is unique in its plane. */
interface Entry {
  readonly plane: Plane;
  readonly key: string;
  readonly object: object;
}

type Table = readonly { readonly id: string }[];
/** Of a part of the desired state: the names of its lists that are routes, or that only say where programs run. */
interface Share {
  readonly routes?: readonly string[];
  readonly hooks?: readonly string[];
}

/**
 * A part is a list of entries, or settings with lists of entries in them. Left out: problems, what is walked on its own
 * (senderProxies), and what is a part of another entry (groupSids).
 */
const SHARES: Readonly<Record<Exclude<keyof DesiredState, 'senderProxies' | 'groupSids' | 'problems'>, Share>> = {
  ports: {},
  notifier: {},
  proxy: { hooks: ['interfaces'] },
  builder: {},
  source: { hooks: ['interfaces'] },
  flowControl: { hooks: ['interfaces'] },
  guards: {},
  guardAllow: {},
  senderPolicies: {},
  senderCapabilities: {},
  endConSids: {},
  replicationEndCons: {},
  guardedAddresses: {},
  ownAddresses: {},
  srv6: { routes: ['endCon'], hooks: ['corePorts'] },
  multicast: { routes: ['headEnds', 'discards'] },
  tenants: {},
  queuePairs: { hooks: ['interfaces'] },
  learning: {},
};

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const isTable = (value: unknown): value is Table =>
  Array.isArray(value) && value.every((one) => typeof (one as { id?: unknown } | null)?.id === 'string');

function* entriesOf({ desired, origination }: Outcome): Generator<Entry> {
  for (const advertisement of origination)
    yield { plane: 'advertisements', key: nameOf(advertisement), object: advertisement };
  for (const attachment of plannedAttachments(desired))
    yield { plane: 'programs', key: attachment.id, object: attachment };
  for (const [part, share] of Object.entries(SHARES) as [keyof typeof SHARES, Share][]) {
    const value = desired[part];
    if (value !== undefined) yield* entriesIn(kebab(part), value, share);
  }
}

function* entriesIn(kind: string, value: object, { routes = [], hooks = [] }: Share): Generator<Entry> {
  if (isTable(value)) {
    for (const object of value) yield { plane: 'map-entries', key: `${kind} ${object.id}`, object };
    return;
  }
  const settings: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
    if (!isTable(inner)) settings[name] = inner;
    else if (!hooks.includes(name))
      for (const object of inner)
        yield {
          plane: routes.includes(name) ? 'routes' : 'map-entries',
          key: `${kind}.${kebab(name)} ${object.id}`,
          object,
        };
  }
  yield { plane: 'map-entries', key: kind, object: settings };
}

/** Of these an advertisement has those that identify it, whatever its kind. */
const IDENTITY = ['group', 'role', 'prefix', 'sid', 'address'];

/** Two of one name are one object of the network that says something else. */
function nameOf(one: Advertisement): string {
  const known = fields(one).filter(([name]) => IDENTITY.includes(name));
  return [one.kind, ...(known.length > 0 ? known : fields(one)).map(([, value]) => textOf(value))].join(' ');
}

/** Counts what changes, and keeps the first entries. */
class Tally {
  readonly #counts = { add: 0, change: 0, remove: 0 };
  readonly #entries: ChangedEntry[] = [];
  readonly #plane: Plane;

  constructor(plane: Plane) {
    this.#plane = plane;
  }

  note(operation: ChangedEntry['operation'], entry: string, detail: () => string): void {
    this.#counts[operation]++;
    if (this.#entries.length < MOST_ENTRIES) this.#entries.push({ operation, entry, detail: detail() });
  }

  get changes(): PlaneChanges {
    const { add, change, remove } = this.#counts;
    return { plane: this.#plane, added: add, changed: change, removed: remove, entries: this.#entries };
  }
}

/** How objects of one kind are told apart, and counted. */
interface Kind<T> {
  readonly key: (one: T) => string;
  readonly object: (one: T) => object;
  readonly note: (operation: ChangedEntry['operation'], one: T, detail: () => string) => void;
}

/** Objects in a step. */
const STEP = 64;

function* compare<T>(before: Iterable<T>, after: Iterable<T>, { key, object, note }: Kind<T>): Steps {
  const left = new Map<string, T>();
  let steps = 0;
  for (const one of before) {
    left.set(key(one), one);
    if (++steps % STEP === 0) yield;
  }
  for (const one of after) {
    const former = left.get(key(one));
    left.delete(key(one));
    const differences = former && differencesOf(object(former), object(one));
    if (!differences) note('add', one, () => fieldsOf(object(one)).join(', '));
    else if (differences.length > 0) note('change', one, () => differences.join(', '));
    if (++steps % STEP === 0) yield;
  }
  for (const one of left.values()) note('remove', one, () => fieldsOf(object(one)).join(', '));
}

export function* changesBetween(before: Outcome, after: Outcome): Steps<Changes> {
  const tallies = Object.fromEntries(PLANES.map((plane) => [plane, new Tally(plane)])) as Record<Plane, Tally>;
  yield* compare(entriesOf(before), entriesOf(after), {
    key: ({ plane, key }) => `${plane} ${key}`,
    object: (entry) => entry.object,
    note: (operation, { plane, key }, detail) => tallies[plane].note(operation, key, detail),
  });
  yield* senderChanges(before.desired.senderProxies, after.desired.senderProxies, tallies['map-entries']);
  return PLANES.map((plane) => tallies[plane].changes);
}

const senderName = (id: string): string => `sender-proxies ${id}`;

/** There may be a million of them: where one follows from the other, only what differs is looked at. */
function* senderChanges(before: SenderProxies, after: SenderProxies, tally: Tally): Steps {
  const known = after.since(before);
  if (known) return noteKnown(known, tally);
  yield* compare(before.all(), after.all(), {
    key: ({ id }) => id,
    object: (sender) => sender,
    note: (operation, { id }, detail) => tally.note(operation, senderName(id), detail),
  });
}

/** A later batch may undo an earlier one. An added one counts as changed: a batch does not tell them apart. */
function noteKnown(batches: NonNullable<ReturnType<SenderProxies['since']>>, tally: Tally): void {
  const last = new Map<string, SenderProxyPlan | undefined>();
  for (const { upserts, deletes } of batches) {
    for (const sender of upserts) last.set(sender.id, sender);
    for (const id of deletes) last.set(id, undefined);
  }
  for (const [id, sender] of last)
    tally.note(sender ? 'change' : 'remove', senderName(id), () => (sender ? fieldsOf(sender).join(', ') : ''));
}

const MOST_SHOWN = 120;
const cut = (text: string): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

/** `id` and `kind` are in the key; sentences for operators follow from what is compared. */
const APART = new Set(['id', 'kind', 'explanation']);
const fields = (object: object): [string, unknown][] =>
  Object.entries(object).filter(([name, value]) => !APART.has(name) && value !== undefined);

const fieldsOf = (object: object): string[] => fields(object).map(([name, value]) => `${kebab(name)} ${shown(value)}`);

function differencesOf(before: object, after: object): string[] {
  const [former, now] = [new Map(fields(before)), new Map(fields(after))];
  return [...new Set([...former.keys(), ...now.keys()])].flatMap((name) => {
    const [from, to] = [textOf(former.get(name)), textOf(now.get(name))];
    return from === to ? [] : [`${kebab(name)} ${cut(from)} → ${cut(to)}`];
  });
}

const shown = (value: unknown): string => cut(textOf(value));

const isAddress = (value: object): value is IpAddress =>
  'family' in value && 'value' in value && typeof value.value === 'bigint';
const isPrefix = (value: object): value is Prefix =>
  'address' in value && 'length' in value && Object.keys(value).length === 2;

/** A value in words. It has all that tells two values apart. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return `[${value.map(textOf).join(' ')}]`;
  if (typeof value !== 'object') return String(value as string | number | bigint | boolean);
  if (isAddress(value)) return formatAddress(value);
  if (isPrefix(value)) return formatPrefix(value);
  return `{${Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([name, inner]) => `${kebab(name)} ${textOf(inner)}`)
    .join(' ')}}`;
}
