// Members of groups that are declared at run time, beside those of the file: how a request is read and checked. A value
// is read as the same key of the file is, so that errors are the same. What the members mean together with the file is
// in effective-groups.ts.
import type * as z from 'zod';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { ChangeRefusal, GroupChange } from '../model/group-change.ts';
import { describeFound, printable } from './errors.ts';
import * as groups from './groups.ts';
import type { IssueParams } from './schema-parts.ts';
import { onOff } from './values.ts';

export type Role = 'source' | 'receiver';

export interface RunTimeMember {
  readonly role: Role;
  readonly address: IpAddress;
  /** Kept over a reboot. */
  readonly persistent: boolean;
  /** The leaves that were given, as text, by their YANG names. */
  readonly values: Values;
  /** The same, as the section of the file would have it. */
  readonly declared: z.output<typeof groups.receiver> | z.output<typeof groups.source>;
}

export interface RunTimeGroup {
  readonly proxyAddress: IpAddress;
  /** As given; absent: the group of the file has it. */
  readonly name?: string;
  readonly designatedQpn?: number;
  /** By memberId. */
  readonly members: ReadonlyMap<string, RunTimeMember>;
}

/** By Proxy Address, as text. */
export type RunTimeGroups = ReadonlyMap<string, RunTimeGroup>;

type Values = Readonly<Record<string, string>>;

export const NO_GROUPS: RunTimeGroups = new Map();

export const memberId = (role: string, address: IpAddress): string => `${role} ${formatAddress(address)}`;

/** Names of the leaves, and where the file has them. */
const LEAVES: Readonly<Record<Role, readonly string[]>> = {
  receiver: ['qpn', 'edge', 'psn-delta', 'va-delta', 'r-key'],
  source: ['qpn', 'start-psn'],
};
const PERSISTENT = 'persistent';
const GROUP_LEAVES = ['name', 'designated-qpn'];
const MEMBERS = 'member';

/** A request that is not valid. Never leaves this file. */
class Invalid extends Error {
  readonly errors: readonly string[];
  constructor(...errors: readonly string[]) {
    super(errors.join('; '));
    this.errors = errors;
  }
}

interface Draft {
  readonly proxyAddress: IpAddress;
  name?: string;
  designatedQpn?: number;
  readonly members: Map<string, RunTimeMember>;
}

/**
 * The members after these changes. Deletions come first, then replacements, then updates, as in gNMI. Deleting what is
 * not there is no error.
 */
export function changedGroups(
  before: RunTimeGroups,
  changes: readonly GroupChange[],
): { readonly ok: true; readonly value: RunTimeGroups } | { readonly ok: false; readonly error: ChangeRefusal } {
  const after = new Map<string, RunTimeGroup>(before);
  const drafts = new Map<string, Draft>();
  const errors: string[] = [];
  for (const operation of ['delete', 'replace', 'update'] as const)
    for (const change of changes) {
      if (change.operation !== operation) continue;
      try {
        applyChange(change, after, drafts);
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
        errors.push(...error.errors);
      }
      if (errors.length >= MOST_ERRORS) return { ok: false, error: { code: 'invalid', errors } };
    }
  if (errors.length > 0) return { ok: false, error: { code: 'invalid', errors } };
  for (const [id, draft] of drafts)
    if (draft.members.size === 0) after.delete(id);
    else after.set(id, draft);
  return { ok: true, value: after };
}

/** The gRPC status travels in a header. */
const MOST_ERRORS = 5;

function applyChange(change: GroupChange, after: RunTimeGroups, drafts: Map<string, Draft>): void {
  const proxyAddress = readKey(groups.group.shape['proxy-address'], change.group, 'proxy-address');
  const id = formatAddress(proxyAddress);
  const draft = drafts.get(id) ?? copyOf(after.get(id) ?? { proxyAddress, members: new Map() });
  drafts.set(id, draft);
  if (change.member) changeMember(draft, change, change.member, change.value);
  else changeGroup(draft, change);
}

const copyOf = (group: RunTimeGroup): Draft => ({ ...group, members: new Map(group.members) });

function changeGroup(draft: Draft, { operation, value }: GroupChange): void {
  if (operation !== 'update') {
    draft.members.clear();
    delete draft.name;
    delete draft.designatedQpn;
  }
  if (operation === 'delete') return;
  const where = `group ${formatAddress(draft.proxyAddress)}`;
  const { [MEMBERS]: members = [], ...leaves } = objectOf(value, where);
  const { 'proxy-address': key, ...rest } = leaves;
  if (key !== undefined)
    expectKey(where, 'proxy-address', key, groups.group.shape['proxy-address'], draft.proxyAddress);
  const values = textsOf(rest, where, GROUP_LEAVES);
  const shape = groups.group.shape;
  if (values['name'] !== undefined) draft.name = readValue(shape.name, values['name'], `${where}: name`);
  if (values['designated-qpn'] !== undefined)
    draft.designatedQpn = readValue(shape['designated-qpn'], values['designated-qpn'], `${where}: designated-qpn`);
  if (!Array.isArray(members))
    throw new Invalid(`${where}: ${MEMBERS}: found ${describeFound(members)}; allowed: a list`);
  for (const entry of members as readonly unknown[]) {
    const { role, address, ...inner } = objectOf(entry, `${where}: ${MEMBERS}`);
    changeMember(draft, { operation: 'update' }, { role: textOf(role, where), address: textOf(address, where) }, inner);
  }
}

function changeMember(
  draft: Draft,
  { operation }: Pick<GroupChange, 'operation'>,
  key: { readonly role: string; readonly address: string },
  value: unknown,
): void {
  const role = roleOf(key.role);
  const address = readKey(groups.receiver.shape.address, key.address, role);
  const id = memberId(role, address);
  if (operation === 'delete') {
    draft.members.delete(id);
    return;
  }
  // A group has one source: a new one takes the place of the old one.
  if (role === 'source')
    for (const [other, { role: its }] of draft.members)
      if (its === 'source' && other !== id) draft.members.delete(other);
  const where = `group ${formatAddress(draft.proxyAddress)}: ${role} ${formatAddress(address)}`;
  const { role: roleAgain, address: addressAgain, ...rest } = objectOf(value, where);
  if (roleAgain !== undefined && roleAgain !== role) throw new Invalid(`${where}: role: it differs from the path`);
  if (addressAgain !== undefined) expectKey(where, 'address', addressAgain, groups.receiver.shape.address, address);
  const given = textsOf(rest, where, [...LEAVES[role], PERSISTENT]);
  const old = operation === 'update' ? draft.members.get(id) : undefined;
  const { [PERSISTENT]: kept, ...values } = { ...old?.values, ...given };
  draft.members.set(id, {
    role,
    address,
    persistent: kept === undefined ? (old?.persistent ?? false) : flagOf(kept, where),
    values,
    declared: declaredOf(role, address, values, where),
  });
}

function roleOf(text: string): Role {
  if (text === 'source' || text === 'receiver') return text;
  throw new Invalid(`role: found ${describeFound(text)}; allowed: one of source, receiver`);
}

function flagOf(text: string, where: string): boolean {
  const read = onOff.parse(text);
  if (!read.ok) throw new Invalid(`${where}: ${PERSISTENT}: found ${describeFound(text)}; allowed: true or false`);
  return read.value;
}

/** @throws Invalid with what the file's section would complain about */
function declaredOf(role: Role, address: IpAddress, values: Values, where: string): RunTimeMember['declared'] {
  const { 'va-delta': vaDelta, 'r-key': rKey, ...rest } = values;
  const write = {
    ...(vaDelta !== undefined && { 'va-delta': vaDelta }),
    ...(rKey !== undefined && { 'r-key': rKey }),
  };
  const raw = { address: formatAddress(address), ...rest, ...(Object.keys(write).length > 0 && { write }) };
  const parsed = groups[role].safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new Invalid(...parsed.error.issues.map((issue) => `${where}: ${complaint(issue, raw)}`));
}

function complaint(issue: z.core.$ZodIssue, raw: object): string {
  const path = issue.path.filter((step) => typeof step === 'string');
  const name = path.filter((step) => step !== 'write').join('.');
  if (issue.code !== 'custom') return `${name}: allowed: ${issue.message}`;
  const { allowed, reason } = issue.params as unknown as IssueParams;
  if (reason !== undefined) return `${name}: ${reason}`;
  const found = path.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], raw);
  return `${name}: ${found === undefined ? 'missing' : `found ${describeFound(found)}`}; allowed: ${allowed}`;
}

function readValue<T>(schema: z.ZodType<T>, text: string, name: string): T {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const { allowed, reason } = (parsed.error.issues[0] as unknown as { params: IssueParams }).params;
  throw new Invalid(`${name}: ${reason ?? `found ${describeFound(text)}; allowed: ${allowed}`}`);
}

const readKey = readValue;

function expectKey(where: string, name: string, found: unknown, schema: z.ZodType<IpAddress>, key: IpAddress): void {
  const again = readValue(schema, textOf(found, `${where}: ${name}`), `${where}: ${name}`);
  if (formatAddress(again) !== formatAddress(key)) throw new Invalid(`${where}: ${name}: it differs from the path`);
}

/** Names may be qualified with the module (RFC 7951 §4). */
function objectOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Invalid(`${where}: found ${describeFound(value)}; allowed: an object`);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.replace(/^cnpd:/, ''), inner]));
}

function textsOf(object: Readonly<Record<string, unknown>>, where: string, known: readonly string[]): Values {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Invalid(`${where}: unknown key "${printable(unknown, 60)}"; allowed: ${known.join(', ')}`);
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, textOf(value, `${where}: ${name}`)]));
}

function textOf(value: unknown, where: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Invalid(`${where}: found ${describeFound(value)}; allowed: text, a number or a boolean`);
}
