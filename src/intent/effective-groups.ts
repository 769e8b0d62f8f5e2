// The groups in force: those of the file, and the members that were declared at run time. One place puts them together.
// The file wins: a member that does not fit it is put aside with the reason, and counts again when the file allows it.
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { MOST_RECEIVERS, type Sections, rules } from './group-rules.ts';
import * as groups from './groups.ts';
import type { GroupIntent } from './groups.ts';
import type { Intent } from './intent.ts';
import { type RunTimeGroup, type RunTimeGroups, type RunTimeMember, NO_GROUPS, memberId } from './run-time-groups.ts';

/** A member that does not count. */
export interface Aside {
  /** Proxy Address, and memberId. */
  readonly group: string;
  readonly member: string;
  readonly reason: string;
  /** The limit of members was reached. */
  readonly isOverLimit?: true;
}

export interface EffectiveIntent {
  readonly intent: Intent;
  readonly aside: readonly Aside[];
}

/** All groups of one router; as in the file a group has. */
const MOST_MEMBERS = MOST_RECEIVERS;
/** Each pass puts something aside; more passes than kinds of rules are not needed. */
const PASSES = 4;

/** The intent of a file together with members declared at run time. Pure. */
export function effectiveIntent(file: Intent, runTime: RunTimeGroups = NO_GROUPS): EffectiveIntent {
  if (runTime.size === 0) return { intent: file, aside: [] };
  const merge = new Merge(file.groups ?? [], runTime);
  merge.checkAgainstFile();
  merge.limit();
  for (let pass = 0; merge.checkRules(file, pass === PASSES - 1); pass++);
  const merged = merge.build(file.srv6 ?? {});
  const { groups: _, ...rest } = file;
  return { intent: { ...rest, ...((file.groups || merged.length > 0) && { groups: merged }) }, aside: merge.aside };
}

interface Entry {
  readonly id: string;
  readonly inFile: GroupIntent | undefined;
  readonly added: RunTimeGroup | undefined;
  /** Of `added`, in force. */
  readonly members: Map<string, RunTimeMember>;
}

const ofRole = (entry: Entry, role: 'source' | 'receiver'): readonly RunTimeMember[] =>
  [...entry.members.values()].filter((member) => member.role === role);
/** Whether the source at run time is that of the file, whose Queue Pair the file leaves open. */
function supplements(entry: Entry): boolean {
  const [open, added] = [entry.inFile?.source, ofRole(entry, 'source')[0]];
  return (
    open !== undefined && open.qpn === undefined && added !== undefined && sameAddress(open.address, added.address)
  );
}
const receiversInFile = ({ inFile }: Entry) => inFile?.members.filter(({ role }) => role === 'receiver') ?? [];

class Merge {
  readonly #entries: Entry[];
  readonly aside: Aside[] = [];

  constructor(file: readonly GroupIntent[], runTime: RunTimeGroups) {
    const rest = new Map(runTime);
    this.#entries = file.map((inFile) => {
      const id = formatAddress(inFile.proxyAddress);
      const added = rest.get(id);
      rest.delete(id);
      return { id, inFile, added, members: new Map(added?.members) };
    });
    for (const [id, added] of rest)
      this.#entries.push({ id, inFile: undefined, added, members: new Map(added.members) });
  }

  #put(entry: Entry, member: string, reason: string, isOverLimit?: true): void {
    if (!entry.members.delete(member)) return;
    this.aside.push({ group: entry.id, member, reason, ...(isOverLimit && { isOverLimit }) });
  }

  #putAll(entry: Entry, reason: string): void {
    for (const member of [...entry.members.keys()]) this.#put(entry, member, reason);
  }

  checkAgainstFile(): void {
    for (const entry of this.#entries) {
      const { inFile, added } = entry;
      if (!added) continue;
      if (!inFile) {
        if (added.designatedQpn === undefined)
          this.#putAll(entry, 'designated-qpn: missing: no group of cnpd.yaml has this Proxy Address');
        continue;
      }
      const differs =
        added.name !== undefined && added.name !== inFile.name
          ? `the group is called ${inFile.name} in cnpd.yaml`
          : added.designatedQpn !== undefined && added.designatedQpn !== inFile.designatedQpn
            ? `designated-qpn is ${inFile.designatedQpn} in cnpd.yaml`
            : undefined;
      if (differs !== undefined) this.#putAll(entry, differs);
      for (const { role, address } of inFile.members)
        if (!(role === 'source' && supplements(entry)))
          this.#put(entry, memberId(role, address), 'cnpd.yaml declares it');
      const source = inFile.source && ofRole(entry, 'source')[0];
      if (source && !supplements(entry))
        this.#put(
          entry,
          memberId('source', source.address),
          `the source is ${formatAddress(inFile.source.address)} in cnpd.yaml`,
        );
    }
  }

  limit(): void {
    let left = MOST_MEMBERS - this.#entries.reduce((sum, entry) => sum + receiversInFile(entry).length, 0);
    for (const entry of this.#entries)
      for (const member of [...entry.members.keys()])
        if (--left < 0) this.#put(entry, member, `one router declares at most ${MOST_MEMBERS} members`, true);
  }

  /**
   * The rules of the file on everything together.
   * @param isLast whatever is still wrong then takes all members with it
   * @returns whether something was wrong
   */
  checkRules(file: Intent, isLast: boolean): boolean {
    const used = this.#entries.filter(({ inFile, members }) => inFile || members.size > 0);
    const seen: Sections = { groups: used.map(seenOf), srv6: seenSids(file), router: seenRouter(file) };
    let isWrong = false;
    const before = this.aside.length;
    for (const rule of rules)
      rule(seen, ([, index, key, place], _, reason) => {
        isWrong = true;
        const entry = used[index as number];
        if (entry) this.#blame(entry, key, place, reason);
      });
    if (isWrong && (isLast || this.aside.length === before))
      for (const entry of this.#entries) this.#putAll(entry, 'the members at run time contradict cnpd.yaml');
    return isWrong && this.aside.length > before && !isLast;
  }

  #blame(entry: Entry, key: string | number | undefined, place: string | number | undefined, reason: string): void {
    if (key === 'receivers' && typeof place === 'number') {
      const member = ofRole(entry, 'receiver')[place - receiversInFile(entry).length];
      if (member) this.#put(entry, memberId('receiver', member.address), reason);
      return;
    }
    if (key === 'source') {
      for (const { address } of ofRole(entry, 'source')) this.#put(entry, memberId('source', address), reason);
      return;
    }
    if (!entry.inFile) return this.#putAll(entry, reason);
    // A Proxy Address of the file that a member has as its own.
    for (const other of this.#entries)
      for (const [id, { address }] of other.members)
        if (formatAddress(address) === entry.id) this.#put(other, id, reason);
  }

  build(sids: groups.Sids): GroupIntent[] {
    return this.#entries.flatMap((entry) => {
      if (entry.members.size === 0) return entry.inFile ? [entry.inFile] : [];
      const added = groups.build(declaredOf(entry), sids);
      if (!entry.inFile) return [added];
      const isSource = ({ role }: { readonly role: string }) => role === 'source';
      // The source is in both if only its Queue Pair was missing in the file.
      const all = [...entry.inFile.members, ...added.members.filter((one) => !(isSource(one) && entry.inFile!.source))];
      const members = [...all.filter(isSource), ...all.filter((member) => !isSource(member))];
      const nearest = [...(entry.inFile.nearest ?? []), ...(added.nearest ?? [])];
      const source = added.source && { ...added.source, ...entry.inFile.source };
      return [{ ...entry.inFile, ...(source && { source }), members, ...(nearest.length > 0 && { nearest }) }];
    });
  }
}

/** As the file would declare what was declared at run time. */
function declaredOf(entry: Entry): groups.Declared {
  const source = ofRole(entry, 'source')[0]?.declared as groups.Declared['source'];
  return {
    name: entry.inFile?.name ?? nameOf(entry.added!),
    'proxy-address': entry.added!.proxyAddress,
    'designated-qpn': entry.inFile?.designatedQpn ?? entry.added!.designatedQpn!,
    ...(source && { source }),
    receivers: ofRole(entry, 'receiver').map(({ declared }) => declared) as NonNullable<groups.Declared['receivers']>,
  };
}

/** Its Proxy Address, unless it was given a name: no name in the file has a colon. */
const nameOf = ({ name, proxyAddress }: RunTimeGroup): string => name ?? formatAddress(proxyAddress);

/** Whether the receiver names no edge. */
const isOpen = (group: GroupIntent | undefined, address: IpAddress): boolean =>
  group?.nearest?.some((one) => sameAddress(one, address)) ?? false;

type SeenGroup = NonNullable<NonNullable<Sections['groups']>[number]>;

function seenOf(entry: Entry): SeenGroup {
  const { inFile, added } = entry;
  const source = inFile?.source ?? ofRole(entry, 'source')[0];
  const receiver = (address: IpAddress, edge: IpAddress | undefined) => ({ address, ...(edge && { edge }) });
  return {
    name: inFile?.name ?? nameOf(added!),
    'proxy-address': (inFile ?? added!).proxyAddress,
    ...(source && { source: { address: source.address } }),
    receivers: [
      ...receiversInFile(entry).map(({ address, node }) =>
        receiver(address, isOpen(inFile, address) ? undefined : node),
      ),
      ...ofRole(entry, 'receiver').map(({ address, declared }) =>
        receiver(address, 'edge' in declared ? declared.edge : undefined),
      ),
    ],
  };
}

const seenRouter = ({ router: { loopback4, loopback6 } }: Intent): Sections['router'] => ({
  loopback: { ...(loopback4 && { ipv4: loopback4 }), ...(loopback6 && { ipv6: loopback6 }) },
});

const seenSids = ({ srv6 }: Intent): Sections['srv6'] =>
  srv6 && {
    ...(srv6.endMt && { 'end-mt': srv6.endMt }),
    ...(srv6.replication && { replication: srv6.replication }),
  };
