// Hellos on the point-to-point circuit, sent and received (ISO/IEC 10589 §8.2; RFC 5303; RFC 5308 §3). They have no
// padding: cnpd sets the MTU of the veth, and FRR does not require padding.
import { count, jittered, warnLimited } from '../../effects.ts';
import { formatSystemId, sameSystemId } from '../../../packet/isis/lsp-id.ts';
import { encodePdu } from '../../../packet/isis/pdu.ts';
import { NLPID_IPV4, NLPID_IPV6 } from '../../../packet/isis/tlv/protocols-supported.ts';
import type { IsisTlv, ThreeWayAdjacency } from '../../../packet/isis/tlv/types.ts';
import type { CircuitType, Level, P2pHello, Received } from '../../../packet/isis/types.ts';
import { type Adjacency, threeWay } from './adjacency.ts';
import { changeAdjacency, dropAdjacency } from './changes.ts';
import { authentic, sign } from '../auth.ts';
import { MT_IPV6 } from '../constants.ts';
import { markDirty } from '../own/own.ts';
import type { Speaker } from '../state.ts';

const LEVELS_OF: Record<CircuitType, readonly Level[]> = { 1: [1], 2: [2], 3: [1, 2] };

const holdSeconds = (s: Speaker): number =>
  Math.min(0xffff, Math.max(1, Math.ceil((s.config.helloIntervalMs * s.config.holdMultiplier) / 1000)));

export function sendHello(s: Speaker): void {
  s.helloAt = s.link ? s.now + jittered(s, s.config.helloIntervalMs) : Infinity;
  if (!s.link) return;
  const circuitType = s.config.levels.reduce<number>((bits, level) => bits | level, 0) as CircuitType;
  const tlvs: IsisTlv[] = [
    { kind: 'protocols-supported', nlpids: [NLPID_IPV4, NLPID_IPV6] },
    { kind: 'area-addresses', areas: [s.config.area] },
    { kind: 'ipv6-interface-addresses', addresses: [s.link.linkLocal] },
    ourThreeWay(s),
  ];
  if (s.adjacency?.mtIpv6)
    tlvs.push({
      kind: 'multi-topology',
      topologies: [0, MT_IPV6].map((id) => ({ id, overload: false, attached: false })),
    });
  const pdu = encodePdu({
    kind: 'p2p-hello',
    circuitType,
    systemId: s.config.systemId,
    holdingTime: holdSeconds(s),
    localCircuitId: s.config.circuitId & 255,
    tlvs,
  });
  count(s, 'tx.hello');
  s.effects.push({ type: 'send', pdu: sign(s, 'interface', pdu) });
}

/** RFC 5303 §3.2: names the neighbor only while its hellos arrive. */
function ourThreeWay(s: Speaker): ThreeWayAdjacency {
  const tlv: ThreeWayAdjacency = {
    kind: 'three-way-adjacency',
    state: s.adjacency?.state ?? 'down',
    circuitId: s.config.circuitId,
  };
  const { adjacency } = s;
  if (!adjacency || adjacency.state === 'down' || adjacency.circuitId === undefined) return tlv;
  return { ...tlv, neighborSystemId: adjacency.systemId, neighborCircuitId: adjacency.circuitId };
}

export function receiveHello(s: Speaker, pdu: P2pHello & Received): void {
  count(s, 'rx.hello');
  if (!authentic(s, 'interface', pdu.raw)) return;
  const system = formatSystemId(pdu.systemId);
  if (sameSystemId(pdu.systemId, s.config.systemId)) {
    return warnLimited(
      s,
      'hello.own-system-id',
      { system },
      'hello with our own system ID: a loop, or FRR has the same NET',
    );
  }
  const { adjacency } = s;
  if (adjacency && adjacency.system !== system && adjacency.state !== 'down') {
    warnLimited(
      s,
      'hello.system-id-changed',
      { was: adjacency.system, now: system },
      'another system answers on the circuit',
    );
    dropAdjacency(s, `system ID changed to ${system}`);
    return sendHello(s);
  }
  const levels = commonLevels(s, pdu, system);
  if (levels.length === 0) return dropAdjacency(s, 'no level in common');
  const theirs = theirThreeWay(s, pdu);
  if (theirs) advance(s, pdu, system, levels, theirs);
}

/**
 * Levels that both ends run. Level 1 requires an area in common (ISO/IEC 10589 §8.2.4.2). Without any the reason is
 * counted.
 */
function commonLevels(s: Speaker, pdu: P2pHello, system: string): readonly Level[] {
  const both = LEVELS_OF[pdu.circuitType].filter((level) => s.config.levels.includes(level));
  if (both.length === 0) {
    warnLimited(
      s,
      'hello.level-mismatch',
      { system, circuitType: pdu.circuitType, ours: s.config.levels },
      'no level in common with the neighbor',
    );
    return [];
  }
  if (!both.includes(1)) return both;
  const areas = pdu.tlvs.flatMap((tlv) => (tlv.kind === 'area-addresses' ? tlv.areas : []));
  if (areas.some((area) => Buffer.compare(area, s.config.area) === 0)) return both;
  warnLimited(s, 'hello.area-mismatch', { system, level: 1 }, 'the neighbor is in another area: no level-1 adjacency');
  return both.filter((level) => level !== 1);
}

/** TLV 240, if there is exactly one and it names us. */
function theirThreeWay(s: Speaker, pdu: P2pHello): ThreeWayAdjacency | undefined {
  const all = pdu.tlvs.filter((tlv) => tlv.kind === 'three-way-adjacency');
  const [tlv] = all;
  const system = formatSystemId(pdu.systemId);
  if (!tlv) warnLimited(s, 'hello.no-three-way', { system }, 'hello without a usable three-way TLV 240');
  else if (all.some((other) => other.state !== tlv.state))
    warnLimited(s, 'hello.contradictory', { system }, 'hello with contradictory TLVs 240');
  else if (!namesUs(s, tlv))
    warnLimited(s, 'hello.not-for-us', { system }, 'the hello names another system or circuit as its neighbor');
  else return tlv;
  return undefined;
}

function namesUs(s: Speaker, tlv: ThreeWayAdjacency): boolean {
  if (tlv.neighborSystemId && !sameSystemId(tlv.neighborSystemId, s.config.systemId)) return false;
  return tlv.neighborCircuitId === undefined || tlv.neighborCircuitId === s.config.circuitId;
}

function advance(s: Speaker, pdu: P2pHello, system: string, levels: readonly Level[], theirs: ThreeWayAdjacency): void {
  const previous = s.adjacency?.system === system ? s.adjacency : undefined;
  const local = previous?.state ?? 'down';
  const { next: state, reason } = threeWay(local, theirs.state);
  const mtIpv6 = pdu.tlvs.some((tlv) => tlv.kind === 'multi-topology' && tlv.topologies.some((t) => t.id === MT_IPV6));
  const changed = state !== local || !previous;
  const next: Adjacency = {
    systemId: pdu.systemId,
    system,
    circuitId: theirs.circuitId,
    state,
    levels,
    mtIpv6,
    holdUntil: s.now + pdu.holdingTime * 1000,
    since: changed ? s.now : previous.since,
    reason: changed ? reason : previous.reason,
  };
  changeAdjacency(s, next);
  const topologyChanged = mtIpv6 !== (previous?.mtIpv6 ?? false);
  if (topologyChanged)
    for (const { own } of s.levels.values()) for (const [number] of own.fragments) markDirty(own, number, s.now);
  if (changed || topologyChanged || previous.circuitId !== theirs.circuitId) sendHello(s);
}

export function holdExpired(s: Speaker): void {
  warnLimited(
    s,
    'adjacency.hold-expired',
    { neighbor: s.adjacency!.system },
    'no hello from the neighbor within the hold time',
  );
  dropAdjacency(s, 'hold time expired');
}
