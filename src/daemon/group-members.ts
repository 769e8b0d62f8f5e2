// Members of groups that are declared at run time: takes requests one after another, keeps them, and puts them together
// with the file's groups into the intent in force.
import { type EffectiveIntent, effectiveIntent } from '../intent/effective-groups.ts';
import type { Intent } from '../intent/intent.ts';
import {
  NO_GROUPS,
  type RunTimeGroups,
  type RunTimeMember,
  changedGroups,
  memberId,
} from '../intent/run-time-groups.ts';
import { formatAddress, parseAddress } from '../model/address.ts';
import { messageOf, systemCodeOf } from '../model/error-text.ts';
import type { ChangeRefusal, ChangeResult, GroupChange } from '../model/group-change.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import { fail, ok } from '../model/result.ts';
import { MemberStore, type StoreOptions, type Unreadable } from './member-store.ts';

interface Dependencies {
  readonly file: () => Intent;
  /** The intent in force has other members. Called once for a request, before it is answered. */
  readonly onChange: (intent: Intent) => void;
  /** The source of this group was declared, perhaps as before: its stream begins anew. Called behind onChange. */
  readonly onSource: (group: string) => void;
  readonly count: Count;
  readonly log: Log;
}

/** The intent in force, and what it was made of. */
interface Together extends EffectiveIntent {
  readonly file: Intent;
  readonly groups: RunTimeGroups;
}

const together = (file: Intent, groups: RunTimeGroups): Together => ({
  ...effectiveIntent(file, groups),
  file,
  groups,
});

/** Named in a problem. */
const FEW = 3;

export class GroupMembers {
  readonly #store: MemberStore;
  readonly #dependencies: Dependencies;
  #groups: RunTimeGroups = NO_GROUPS;
  #effective: Together | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #unreadable: readonly Unreadable[] = [];
  #isStopped = false;

  constructor(options: StoreOptions, dependencies: Dependencies) {
    this.#store = new MemberStore(options);
    this.#dependencies = dependencies;
  }

  /** Takes over what an earlier run has kept. */
  load(): void {
    const { count, log } = this.#dependencies;
    const { groups, unreadable } = this.#store.load();
    this.#groups = groups;
    this.#unreadable = unreadable;
    for (const { reason, notSetAside } of unreadable) {
      count('groups.members.unreadable');
      log.error({ error: reason }, 'members that were declared at run time are lost: their file is damaged');
      if (notSetAside === undefined) continue;
      count('groups.members.not-set-aside');
      log.error({ error: notSetAside }, 'the damaged file cannot be renamed; the next request replaces it');
    }
  }

  /** Declared at run time, in force or not. */
  get declared(): RunTimeGroups {
    return this.#groups;
  }

  /** The file's intent with the members declared at run time. */
  get intent(): Intent {
    return this.#current().intent;
  }

  /** What would be in force with another file. */
  intentWith(file: Intent): Intent {
    return effectiveIntent(file, this.#groups).intent;
  }

  #current(): EffectiveIntent {
    const [file, groups] = [this.#dependencies.file(), this.#groups];
    if (this.#effective?.file !== file || this.#effective.groups !== groups) this.#effective = together(file, groups);
    return this.#effective;
  }

  /** Why a member of a group does not count; undefined: it counts. */
  whyAside(group: string, member: string): string | undefined {
    return this.#current().aside.find((one) => one.group === group && one.member === member)?.reason;
  }

  /** All of it or nothing. Requests are served in their order. */
  set(changes: readonly GroupChange[]): Promise<ChangeResult> {
    const done = this.#last.then(() => this.#set(changes));
    this.#last = done;
    return done;
  }

  async #set(changes: readonly GroupChange[]): Promise<ChangeResult> {
    const { count, onChange, onSource, log } = this.#dependencies;
    const refuse = (error: ChangeRefusal): ChangeResult => {
      count(`groups.set.refused.${error.code}`);
      return fail(error);
    };
    if (this.#isStopped) return refuse({ code: 'stopping', errors: ['cnpd is stopping'] });
    const read = changedGroups(this.#groups, changes);
    if (!read.ok) return refuse(read.error);
    const next = together(this.#dependencies.file(), read.value);
    const refused = this.#check(changes, next);
    if (refused) return refuse(refused);
    try {
      await this.#store.write(read.value);
    } catch (error) {
      const message = messageOf(error);
      log.error({ error: message }, 'cannot write down members of groups; nothing has changed');
      const errors = [`cannot be written down, nothing has changed: ${message}`];
      return refuse({ code: 'not-stored', errors, systemCode: systemCodeOf(error) });
    }
    const before = this.#groups;
    this.#groups = read.value;
    this.#effective = next;
    this.#unreadable = [];
    count('groups.set.done');
    onChange(this.intent);
    for (const [group, { members }] of read.value) {
      const source = sourceIn(members);
      // Whatever a request declares is another object.
      if (source && source !== sourceIn(before.get(group)?.members)) onSource(group);
    }
    return ok(undefined);
  }

  /** Whether the file and the limits allow it. What was put aside before may stay so. */
  #check(changes: readonly GroupChange[], { groups, aside: all }: Together): ChangeRefusal | undefined {
    const errors = changes.flatMap((change) => this.#deletesOfFile(change));
    if (errors.length > 0) return { code: 'conflict', errors: errors.slice(0, FEW) };
    if (!this.#store.canPersist && [...groups.values()].some(hasPersistent))
      return {
        code: 'conflict',
        errors: ['persistent members need a state directory: start cnpd with --state-dir'],
      };
    const known = new Set(this.#current().aside.map(({ group, member }) => `${group} ${member}`));
    const isUnchanged = (group: string, member: string): boolean =>
      known.has(`${group} ${member}`) &&
      this.#groups.get(group)?.members.get(member) === groups.get(group)?.members.get(member);
    const aside = all.filter(({ group, member }) => !isUnchanged(group, member));
    if (aside.length === 0) return undefined;
    return {
      code: aside.every(({ isOverLimit }) => isOverLimit) ? 'full' : 'conflict',
      errors: aside.slice(0, FEW).map(({ group, member, reason }) => `group ${group}: ${member}: ${reason}`),
    };
  }

  #deletesOfFile({ operation, group, member }: GroupChange): string[] {
    const [proxyAddress, address] = [parseAddress(group), member && parseAddress(member.address)];
    if (operation !== 'delete' || !proxyAddress || !member || !address) return [];
    const [id, name] = [memberId(member.role, address), formatAddress(proxyAddress)];
    const inFile = this.#dependencies
      .file()
      .groups?.find((one) => formatAddress(one.proxyAddress) === name)
      ?.members.some((one) => memberId(one.role, one.address) === id);
    return inFile && !this.#groups.get(name)?.members.has(id)
      ? [`group ${name}: ${id}: cnpd.yaml declares it: remove it there`]
      : [];
  }

  problems(): Problem[] {
    const { aside } = this.#current();
    const rest = aside.length > FEW ? ` and ${aside.length - FEW} more` : '';
    const shown = aside.slice(0, FEW).map(({ group, member, reason }) => `${group}: ${member}: ${reason}`);
    return [
      ...this.#unreadable.map(({ reason, notSetAside }): Problem => ({
        code: 'groups.members-unreadable',
        feature: 'groups',
        problem: `members that were declared at run time are lost: ${reason}`,
        remedy:
          'declare them again (`cnpctl group join`); ' +
          (notSetAside === undefined
            ? 'the damaged file has the suffix .bad'
            : `that replaces the damaged file, which cannot be renamed: ${notSetAside}`),
      })),
      ...(aside.length === 0
        ? []
        : [
            {
              code: 'groups.member-aside' as const,
              feature: 'groups',
              problem: `members that were declared at run time do not count: ${shown.join('; ')}${rest}`,
              remedy: 'the file wins: change cnpd.yaml, or let them leave with `cnpctl group leave`',
            },
          ]),
    ];
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#last;
  }
}

const sourceIn = (members: ReadonlyMap<string, RunTimeMember> | undefined): RunTimeMember | undefined =>
  [...(members?.values() ?? [])].find(({ role }) => role === 'source');

const hasPersistent = ({ members }: { readonly members: ReadonlyMap<string, { readonly persistent: boolean }> }) =>
  [...members.values()].some(({ persistent }) => persistent);
