// gNMI Set of the configuration: /cnpd/configuration, its sections, and the leaf `persistent`, which says whether the
// file is written. With the extension Commit it is on trial.
import type { ChangeTerms, ConfigActions, SectionChange } from '../model/config-change.ts';
import type { ChangeRefusal } from '../model/group-change.ts';
import type { Result } from '../model/result.ts';
import type { CommitAction } from './commit.ts';
import { checkedNames } from './paths.ts';
import type { CheckPath } from './rights.ts';
import { RpcError, refusal } from './rpc-error.ts';
import { type CheckedChange, jsonOf } from './set-value.ts';

const WHOLE = checkedNames(['cnpd', 'configuration']);

export const isOfConfiguration = ({ checked: { steps } }: CheckedChange): boolean => steps[1]?.name === 'configuration';

export type ConfigSetter = Pick<ConfigActions, 'set' | 'confirm' | 'rollBack' | 'extend'>;

/** What a Set asks for. */
export type ConfigurationSet =
  | { readonly call: 'set'; readonly changes: readonly SectionChange[]; readonly terms: ChangeTerms }
  | { readonly call: 'confirm' | 'rollBack'; readonly id: string }
  | { readonly call: 'extend'; readonly id: string; readonly confirmMs: number };

/** @throws RpcError */
export function readConfigurationSet(
  changes: readonly CheckedChange[],
  commit: CommitAction | undefined,
  checkWrite: CheckPath,
): ConfigurationSet {
  checkWrite(WHOLE);
  if (commit && commit.kind !== 'commit') {
    if (changes.length > 0)
      throw new RpcError('INVALID_ARGUMENT', `commit: ${commit.kind} stands alone, without delete, replace or update`);
    if (commit.kind === 'extend') return { call: 'extend', id: commit.id, confirmMs: commit.confirmMs };
    return { call: commit.kind === 'confirm' ? 'confirm' : 'rollBack', id: commit.id };
  }
  if (!changes.every(isOfConfiguration))
    throw new RpcError(
      'INVALID_ARGUMENT',
      'a request changes the configuration, or members of groups, not both; commit is for the configuration',
    );
  if (changes.length === 0) throw new RpcError('INVALID_ARGUMENT', 'commit: nothing is changed');
  const { changes: sections, terms } = new ConfigurationChanges(changes);
  return {
    call: 'set',
    changes: sections,
    terms: { ...terms, ...(commit && { id: commit.id, confirmMs: commit.confirmMs }) },
  };
}

/** @throws RpcError; then nothing has changed */
export async function setConfiguration(asked: ConfigurationSet, config: ConfigSetter): Promise<void> {
  const done = await make(asked, config);
  if (!done.ok) throw refusal(done.error);
}

function make(asked: ConfigurationSet, config: ConfigSetter): Promise<Result<unknown, ChangeRefusal>> {
  switch (asked.call) {
    case 'set':
      return config.set(asked.changes, asked.terms);
    case 'extend':
      return config.extend(asked.id, asked.confirmMs);
    case 'confirm':
    case 'rollBack':
      return config[asked.call](asked.id);
  }
}

class ConfigurationChanges {
  readonly changes: SectionChange[] = [];
  #isPersistent = true;

  constructor(changes: readonly CheckedChange[]) {
    for (const change of changes) this.#add(change);
  }

  get terms(): ChangeTerms {
    return this.#isPersistent ? {} : { isTemporary: true };
  }

  #add(change: CheckedChange): void {
    const { operation, checked, where } = change;
    const [, , section] = checked.steps;
    if (checked.pattern || checked.steps.some(({ keyed }) => keyed))
      throw new RpcError('INVALID_ARGUMENT', `${where}: no wildcards and no keys can be set`);
    if (section?.name === 'persistent') {
      this.#isPersistent = operation === 'delete' || flagOf(change);
      return;
    }
    const place = section ? { section: section.name } : {};
    if (operation === 'delete') this.changes.push({ operation, ...place });
    else this.changes.push({ operation, ...place, value: section ? jsonOf(change) : this.#whole(change) });
  }

  /** The leaf may stand among the sections. */
  #whole(change: CheckedChange): unknown {
    const value = jsonOf(change);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { persistent, ['cnpd:persistent']: qualified = persistent, ...sections } = value as Record<string, unknown>;
    if (qualified !== undefined) this.#isPersistent = expectFlag(qualified, change.where);
    return sections;
  }
}

function flagOf(change: CheckedChange): boolean {
  const typed = change.value?.value;
  return typed?.case === 'boolVal' ? typed.value : expectFlag(jsonOf(change), change.where);
}

function expectFlag(value: unknown, where: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new RpcError('INVALID_ARGUMENT', `${where}: persistent: allowed: true or false`);
}
