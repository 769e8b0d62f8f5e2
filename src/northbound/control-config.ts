// cnpd.v1.Control: the configuration as a file: plan, apply, confirm, roll back, show, reload.
import { create } from '@bufbuild/protobuf';
import type { ChangeTerms, Changes, ConfigOutcome } from '../model/config-change.ts';
import type { ChangeRefusal } from '../model/group-change.ts';
import type { Result } from '../model/result.ts';
import { checkConfirmMs } from './confirm-time.ts';
import type { NorthboundDependencies } from './dependencies.ts';
import {
  type ApplyRequest,
  ConfigurationResponseSchema,
  ConfirmResponseSchema,
  type PlanRequest,
  PlanResponseSchema,
  ReloadResponseSchema,
} from './gen/cnpd/v1/control_pb.js';
import { clip } from './paths.ts';
import { refusal } from './rpc-error.ts';

const planesOf = (planes: Changes = []) => planes.map(({ entries, ...plane }) => ({ ...plane, entries: [...entries] }));

const outcome = ({ planes, ...rest }: ConfigOutcome) =>
  create(ReloadResponseSchema, {
    ...rest,
    errors: [...rest.errors],
    changed: [...rest.changed],
    problems: [...(rest.problems ?? [])],
    planes: planesOf(planes),
  });

function done<T>(result: Result<T, ChangeRefusal>): T {
  if (!result.ok) throw refusal(result.error);
  return result.value;
}

/** A file with errors is an answer with all of them, as of a reload. */
function outcomeOf(result: Result<ConfigOutcome, ChangeRefusal>) {
  if (!result.ok && result.error.code === 'invalid')
    return outcome({ ok: false, errors: result.error.errors, changed: [] });
  return outcome(done(result));
}

const termsOf = ({ confirmMs, temporary }: ApplyRequest): ChangeTerms => ({
  ...(confirmMs !== 0 && { confirmMs: checkConfirmMs(confirmMs) }),
  ...(temporary && { isTemporary: true }),
});

const nameOf = (name: string): string => clip(name) || 'configuration';

export function configHandlers({ reload, config }: NorthboundDependencies['actions']) {
  return {
    reload: async () => outcome(await reload()),
    plan: async ({ text, name }: PlanRequest) => {
      const { ok, errors, changed, planes } = done(await config.plan(text, nameOf(name)));
      const lists = { errors: [...errors], changed: [...changed], planes: planesOf(planes) };
      return create(PlanResponseSchema, { ok, ...lists });
    },
    apply: async (request: ApplyRequest) =>
      outcomeOf(await config.apply(request.text, nameOf(request.name), termsOf(request))),
    confirm: async () => {
      done(await config.confirm());
      return create(ConfirmResponseSchema);
    },
    rollback: async () => outcome(done(await config.rollBack())),
    configuration: async () => {
      const { text, tree, defaults } = await config.shown();
      return create(ConfigurationResponseSchema, { text, json: JSON.stringify(tree), defaults: [...defaults] });
    },
  };
}
