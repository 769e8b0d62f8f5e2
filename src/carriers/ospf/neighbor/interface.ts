// The link of an area: hellos, sent and received (RFC 2328 §9.5, §10.5), and the loss of a silent neighbor.
import { count, logAdjacency, random } from '../../effects.ts';
import { formatId } from '../../../packet/ospf/router-id.ts';
import type { Hello } from '../../../packet/ospf/types.ts';
import { enterExStart } from '../exchange/describe.ts';
import { type Neighbor, clearLists, newNeighbor } from './neighbor.ts';
import { transition } from './transition.ts';
import { topologyChanged } from '../own/topology.ts';
import { type AreaState, type Speaker, refuse } from '../state.ts';
import { send } from '../transmit.ts';

export function sendHello(s: Speaker, area: AreaState): void {
  if (!area.link) return;
  const { version } = s.config;
  const { config, neighbor } = area;
  send(s, area, {
    kind: 'hello',
    networkMask: 0,
    interfaceId: version.version === 3 ? config.interfaceId : 0,
    options: version.helloOptions(config.keys.length > 0),
    helloInterval: config.helloSeconds,
    priority: 0,
    deadInterval: config.deadSeconds,
    designatedRouter: 0,
    backupDesignatedRouter: 0,
    // On a clean stop our hello no longer lists the neighbor, so that it takes the adjacency down at once.
    neighbors: neighbor && !s.stopping?.done ? [neighbor.routerId] : [],
  });
  area.helloAt = s.now + config.helloSeconds * 1000 * (1 - random(s) / 10);
}

export function linkDown(s: Speaker, area: AreaState, reason: string): void {
  area.link = undefined;
  area.helloAt = Infinity;
  area.inbox.length = 0;
  loseNeighbor(s, area, reason);
}

function loseNeighbor(s: Speaker, area: AreaState, reason: string): void {
  const { neighbor } = area;
  if (!neighbor) return;
  logAdjacency(
    s,
    { wasUp: neighbor.state === 'full', isUp: false, isStopping: s.stopping !== undefined },
    { area: formatId(area.config.areaId), neighbor: formatId(neighbor.routerId), from: neighbor.state, reason },
    'OSPF neighbor lost',
  );
  clearLists(neighbor);
  area.neighbor = undefined;
}

export function inactivityDue(s: Speaker, area: AreaState): void {
  count(s, 'neighbor.inactive');
  loseNeighbor(s, area, 'no hello within the dead interval');
}

/**
 * The first setting in which a hello and our configuration disagree (RFC 2328 §10.5; the mask is ignored on
 * point-to-point links): its name, and the difference.
 */
function disagreement(s: Speaker, { config }: AreaState, hello: Hello): readonly [string, string] | undefined {
  const { agreedOptions, helloOptions } = s.config.version;
  if (hello.helloInterval !== config.helloSeconds)
    return ['hello-interval', `its hello-interval is ${hello.helloInterval} s, ours ${config.helloSeconds} s`];
  if (hello.deadInterval !== config.deadSeconds)
    return ['dead-interval', `its dead-interval is ${hello.deadInterval} s, ours ${config.deadSeconds} s`];
  return ((hello.options ^ helloOptions(false)) & agreedOptions) !== 0
    ? ['options', 'the neighbor treats the area as a stub area or an NSSA']
    : undefined;
}

export function receiveHello(s: Speaker, area: AreaState, hello: Hello): void {
  const wrong = disagreement(s, area, hello);
  if (wrong) return refuse(s, area, `hello.${wrong[0]}-mismatch`, wrong[1], { neighbor: formatId(hello.routerId) });
  area.refused = undefined;
  if (area.neighbor && area.neighbor.routerId !== hello.routerId) loseNeighbor(s, area, 'another router answers');
  const fresh = !area.neighbor;
  const neighbor = (area.neighbor ??= newNeighbor(hello.routerId, s.now));
  neighbor.inactiveAt = s.now + area.config.deadSeconds * 1000;
  interfaceIdChanged(s, area, neighbor, hello.interfaceId);
  const hearsUs = hello.neighbors.includes(s.config.routerId);
  // A neighbor that does not list us yet gets a hello before the next regular one.
  if (fresh || !hearsUs) sendHello(s, area);
  if (hearsUs) twoWay(s, area, neighbor);
  else if (transition(s, area, neighbor, 'one-way-received')) clearLists(neighbor);
}

function interfaceIdChanged(s: Speaker, area: AreaState, neighbor: Neighbor, interfaceId: number): void {
  if (neighbor.interfaceId === interfaceId) return;
  neighbor.interfaceId = interfaceId;
  if (neighbor.state === 'full') topologyChanged(s, area);
}

/** The neighbor's hello lists us: on a point-to-point link it becomes adjacent. */
export function twoWay(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  if (transition(s, area, neighbor, 'two-way-received')) enterExStart(s, area, neighbor);
}
