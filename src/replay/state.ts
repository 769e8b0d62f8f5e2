// The state at the end of a recording, as the northbound reads that of a daemon. What no machine of the recording has,
// such as ports and programs, is empty.
import { type Moment, timestamp } from '../carriers/dependencies.ts';
import { pathStates, sessionState } from '../carriers/bgp/show.ts';
import { databaseState as isisDatabase, neighborState as isisNeighbors } from '../carriers/isis/show.ts';
import { databaseState as ospfDatabase, neighborState as ospfNeighbors } from '../carriers/ospf/show.ts';
import type { OspfState } from '../model/carrier-state.ts';
import { ARN_BIT_ORDERS, DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import type { FlowControlState } from '../model/flow-control-state.ts';
import type { StateSource } from '../model/state.ts';
import { SECTIONS } from '../northbound/schema.ts';
import { flowControlState } from '../state/flow-control.ts';
import type { Names } from '../state/names.ts';
import { holdStates, receivedStates } from '../state/sources.ts';
import type { Replayed } from './replay.ts';

/** The file is no part of a recording. */
const NOTHING_DECLARED = { codePoints: DEFAULT_CODE_POINTS, arnBitOrder: ARN_BIT_ORDERS[0] };

/** The end of the recording, by both clocks. */
const endOf = ({ header: { now, wall }, now: end }: Replayed): Moment => ({ now: end, toWall: wall - now });

export function replayedState(path: string, replayed: Replayed): StateSource {
  const { header, machines, table, counters } = replayed;
  const moment = endOf(replayed);
  const timeOf = (at: number): string => timestamp(at, moment);
  const names: Names = {
    port: (ifindex) => `#${ifindex}`,
    timeOfDay: (ns) => new Date(header.wall + Number(ns) / 1e6 - header.monotonic).toISOString(),
  };
  const { isis, bgp, holds } = machines;
  return {
    ...nothing(),
    status: () => ({
      ...{ version: header.cnpd, pid: 0, startedAt: new Date(header.wall).toISOString(), health: 'running' },
      ...{ waitsFor: [], problems: [], adopted: false },
      intent: { file: path, loadedAt: new Date(header.wall).toISOString(), persistent: false },
    }),
    senders: () => table.entries(),
    isis: () => ({
      neighbors: isis ? isisNeighbors(isis.speaker, isis.config.interface, moment) : [],
      database: isis ? isisDatabase(isis.speaker, moment.now) : [],
    }),
    ospfv2: () => ospfState(replayed, 'ospfv2'),
    ospfv3: () => ospfState(replayed, 'ospfv3'),
    bgp: async () => ({
      // What the client knows of gobgpd is no part of the machine.
      session: bgp ? [sessionState(bgp.content, bgp.target, moment, { policy: { state: 'off' }, silentMs: 0 })] : [],
      peers: [],
      paths: bgp ? [...pathStates(bgp.content, moment)].flat() : [],
    }),
    holds: () => (holds ? holdStates([...holds.views(moment.now)], timeOf) : []),
    received: () => receivedStates(machines.received, names),
    flowControl: () => flowControl(replayed, names),
    counters: () => [...counters].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value })),
    groups: () => ({ group: [], members: [], branches: [], tree: [] }),
    configuration: () => ({ persistent: false }),
  };
}

/** Sections that no machine has: lists without entries. */
function nothing(): StateSource {
  return Object.fromEntries(SECTIONS.map(({ field }) => [field, () => []])) as unknown as StateSource;
}

function ospfState(replayed: Replayed, name: 'ospfv2' | 'ospfv3'): OspfState {
  const moment = endOf(replayed);
  const { [name]: speaker, [`${name}-content` as const]: beside } = replayed.machines;
  if (!speaker || !beside) return { neighbors: [], database: [] };
  const { config, content, downSince } = beside;
  return {
    neighbors: config.areas.map(({ areaId }, i) =>
      ospfNeighbors(speaker, speaker.areas.get(areaId)!, config.interfaces[i]!, downSince.get(areaId)!, moment),
    ),
    database: ospfDatabase(speaker, content, moment.now),
  };
}

function flowControl(replayed: Replayed, names: Names): FlowControlState {
  const { 'flow-control-asked': asked, 'flow-control-paused': paused } = replayed.machines;
  const moment = endOf(replayed);
  const view = {
    asked: asked ? [...asked.views()] : [],
    paused: paused ? [...paused.views(moment.now)] : [],
  };
  return flowControlState(NOTHING_DECLARED, view, names, (at) => timestamp(at, moment));
}
