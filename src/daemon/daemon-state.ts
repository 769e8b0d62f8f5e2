// What the daemon shows: its parts as sources of the operational state, and the problems of all of them. Parts that do
// not exist yet, or are replaced, are functions.
import { reloadProblems } from '../diagnosis/configuration.ts';
import { lostFlagProblems } from '../diagnosis/isis.ts';
import type { LostNotifications } from '../diagnosis/lost-notifications.ts';
import type { Coordinator } from '../coordinator/coordinator.ts';
import { hasRoute } from '../kernel/netlink/has-route.ts';
import type { LearnedTable } from '../learned/table.ts';
import type { ConfigurationState } from '../model/configuration-state.ts';
import type { Problem } from '../model/problem.ts';
import type { StateSource } from '../model/state.ts';
import type { Work } from '../model/work.ts';
import type { EventRecorder } from '../recorder/recorder.ts';
import { type StateDependencies, stateSource } from '../state/state-source.ts';
import type { Carriers } from './carriers.ts';
import type { Counters } from './counters.ts';
import type { GroupMembers } from './group-members.ts';
import type { IntentFile } from './intent-file.ts';
import type { KernelParts } from './kernel-parts.ts';
import type { NorthboundPart } from './northbound-part.ts';
import type { Receivers } from './receivers.ts';
import { VERSION } from './version.ts';

export interface ShownParts {
  readonly work: Work;
  /** The path of the configuration file. */
  readonly path: string;
  readonly file: IntentFile;
  readonly members: GroupMembers;
  readonly table: LearnedTable;
  readonly counters: Counters;
  readonly coordinator: Coordinator;
  readonly carriers: Carriers;
  readonly northbound: NorthboundPart;
  readonly lost: LostNotifications;
  readonly recording: Pick<EventRecorder, 'problems'>;
  readonly startedAt: Date;
  readonly started: () => boolean;
  readonly kernel: () => KernelParts | undefined;
  readonly receivers: () => Receivers | undefined;
  readonly configuration: () => Promise<ConfigurationState>;
}

export function daemonState(parts: ShownParts, told: Pick<StateDependencies, 'problems' | 'waitsFor'>): StateSource {
  const { work, file, members, table, counters, coordinator, carriers, startedAt, kernel, receivers } = parts;
  return stateSource({
    ...{ work, version: VERSION, file, members, table, counters, startedAt, ...told },
    intent: () => coordinator.intent,
    groups: () => ({
      trees: coordinator.trees,
      roles: [...(kernel()?.dataplane.multicast?.groupsView() ?? [])],
      hostnameOf: (originator) => carriers.isis.carrier?.hostnameOf(originator),
    }),
    facts: () => coordinator.facts,
    desired: () => coordinator.desired,
    dataplane: () => kernel()?.dataplane,
    carriers: () => carriers,
    rtnetlink: () => kernel()?.rtnetlink,
    notifications: () => receivers()?.congestion.notifications() ?? [],
    holds: () => receivers()?.source.holds() ?? [],
    received: () => receivers()?.source.received,
    flowControl: () => receivers()?.flowControl?.view(),
    hasRoute: (to) => hasRoute(kernel()!.rtnetlink, to),
    rtt: () => receivers()?.stamp.state() ?? [],
    configuration: parts.configuration,
  });
}

export function problemsOf({ path, file, members, ...parts }: ShownParts): Problem[] {
  return [
    ...reloadProblems(path, file.refused),
    ...parts.northbound.problems(file.intent),
    ...members.problems(),
    ...parts.carriers.problems(file.intent, Date.now()),
    ...lostFlagProblems(parts.table.lostFlags(), (one) => parts.carriers.isis.carrier?.hostnameOf(one)),
    ...(parts.receivers()?.problems() ?? []),
    ...parts.coordinator.problems(),
    ...(parts.kernel()?.dataplane.problems() ?? []),
    ...parts.lost.problems(file.intent),
    ...parts.recording.problems(),
  ];
}
