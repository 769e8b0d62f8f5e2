// Not part of the northbound: a configuration that takes every change and remembers it.
import type { ChangeTerms, ConfigActions, ConfigOutcome, SectionChange } from '../model/config-change.ts';
import { ok } from '../model/result.ts';

export interface ConfigCall {
  readonly call: keyof ConfigActions;
  readonly changes?: readonly SectionChange[];
  readonly text?: string | undefined;
  readonly id?: string | undefined;
  readonly confirmMs?: number;
  readonly terms?: ChangeTerms;
}

export function fakeConfig(calls: ConfigCall[] = []): ConfigActions {
  const outcome: ConfigOutcome = {
    ok: true,
    errors: [],
    changed: ['ports'],
    planes: [],
    health: 'running',
    problems: [],
  };
  const note = (call: ConfigCall): void => void calls.push(call);
  return {
    plan: async (text) => (note({ call: 'plan', text }), ok({ ok: true, errors: [], changed: [], planes: [] })),
    apply: async (text, _, terms) => (note({ call: 'apply', text, terms }), ok(outcome)),
    set: async (changes, terms) => (note({ call: 'set', changes, terms }), ok(outcome)),
    confirm: async (id) => (note({ call: 'confirm', id }), ok(undefined)),
    rollBack: async (id) => (note({ call: 'rollBack', id }), ok(outcome)),
    extend: async (id, confirmMs) => (note({ call: 'extend', id, confirmMs }), ok(undefined)),
    shown: async () => ({ text: 'router: { name: leaf1 }\n', tree: { router: { name: 'leaf1' } }, defaults: [] }),
  };
}
