// Metrics of flows that are held for hosts, and of End.MT groups. No label names a flow or a host.
import {
  BRANCH_STATES,
  GROUP_ROLES,
  type GroupSummary,
  HOLD_STATES,
  type HoldsSummary,
} from '../../model/telemetry-state.ts';
import { RECEIVED_FORMATS } from '../../model/source.ts';
import { type Family, type Label, type Sample, one } from './family.ts';

export const HOLDS: readonly Family<HoldsSummary>[] = [
  {
    name: 'cnpd_hold_flows',
    type: 'gauge',
    help: 'Flows that are held for hosts, by what becomes of them now.',
    labels: [{ name: 'state', bound: HOLD_STATES.join(', ') }],
    samples: ({ states }) => HOLD_STATES.map((state) => one(states[state] ?? 0, state)),
  },
  {
    name: 'cnpd_hold_obeyed_flows',
    type: 'gauge',
    help: 'Flows that are held for hosts, by the format of the last notification that was obeyed.',
    labels: [{ name: 'format', bound: RECEIVED_FORMATS.join(', ') }],
    samples: ({ formats }) => RECEIVED_FORMATS.map((format) => one(formats[format] ?? 0, format)),
  },
  {
    name: 'cnpd_hold_rate_bytes_per_second',
    type: 'gauge',
    unit: 'bytes_per_second',
    help: 'What held and recovering flows may send together.',
    labels: [],
    samples: ({ rate }) => [one(rate / 8)],
  },
];

const GROUP: Label = { name: 'group', bound: 'names of groups in cnpd.yaml, and other for all others together' };
const ROLE: Label = { name: 'role', bound: GROUP_ROLES.join(', ') };
const MEMBER_ROLES = ['source', 'receiver'] as const;

const each =
  <T>(of: (group: GroupSummary) => readonly (readonly [T & string, number])[]) =>
  (groups: readonly GroupSummary[]): Sample[] =>
    groups.flatMap((group) => of(group).map(([label, value]) => one(value, group.name, label)));

const counted = (name: 'packets' | 'answers', help: string): Family<readonly GroupSummary[]> => ({
  name: `cnpd_group_${name}`,
  type: 'counter',
  help,
  labels: [GROUP, ROLE],
  samples: each((group) => GROUP_ROLES.map((role) => [role, group[name][role]] as const)),
});

export const GROUPS: readonly Family<readonly GroupSummary[]>[] = [
  {
    name: 'cnpd_group_members',
    type: 'gauge',
    help: 'Members that this router declares and that others claim, also those that do not count.',
    labels: [GROUP, { name: 'role', bound: MEMBER_ROLES.join(', ') }],
    samples: each(({ members }) => MEMBER_ROLES.map((role) => [role, members[role]] as const)),
  },
  {
    name: 'cnpd_group_branches',
    type: 'gauge',
    help: 'Branches of this router by their status, as in cnpctl show groups.',
    labels: [GROUP, { name: 'state', bound: BRANCH_STATES.join(', ') }],
    samples: each(({ branches }) => BRANCH_STATES.map((state) => [state, branches[state] ?? 0] as const)),
  },
  counted('packets', 'Data packets of the group that this router has replicated or delivered.'),
  counted('answers', 'Aggregated answers that this router has sent towards the source.'),
];
