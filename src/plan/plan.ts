// Computes the desired state of the kernel from the intent, the learned table, and the facts about this machine. Pure:
// no I/O, no clock. One file per feature.
//
// plan() is called after a reload, and when links, qdiscs, a round-trip time, a SID or the capability of a host change.
// Its cost grows with the configuration only. When only the proxies of prefixes change, planSenderProxies derives the
// next state from the last one, so one changed prefix costs one map entry.
import type { Intent } from '../intent/intent.ts';
import { type LearnedView, planCongestedNode } from './congested-node.ts';
import { planReplicationEndCons, withAggregated, withGroups } from './copies.ts';
import type { DesiredState, EgressPortPlan, TenantsPlan } from './desired.ts';
import { planSource } from './source.ts';
import { planSrv6 } from './srv6.ts';
import type { Facts } from './facts.ts';
import { planFlowControl } from './flow-control.ts';
import { NOTHING_ABOUT_GROUPS } from './group-view.ts';
import { planGroups } from './groups.ts';
import { planGuard, planGuarded } from './guard.ts';
import { planLearning } from './port-roles.ts';
import { planProxy } from './proxy.ts';
import { planQueuePairs } from './queue-pairs.ts';
import { planEndConSids } from './senders-learned.ts';
import { endConTenants, planTenants, portTenant } from './tenants.ts';

export function plan(intent: Intent, learned: LearnedView, facts: Facts): DesiredState {
  const congestedNode = planCongestedNode(intent, learned, facts);
  const queuePairs = planQueuePairs(intent, facts);
  const proxy = planProxy(intent, facts);
  const source = planSource(intent, facts);
  const learnsQueuePairs = proxy.proxy !== undefined || queuePairs.queuePairs !== undefined;
  const flowControl = planFlowControl(intent, facts);
  const { tunnelSources = [], ...srv6 } = planSrv6(intent, facts, learnsQueuePairs);
  const guard = planGuard(intent, facts);
  const aboutGroups = learned.groups ?? NOTHING_ABOUT_GROUPS;
  const groups = planGroups(intent, aboutGroups, facts);
  const endCon = endConTenants(intent, learned);
  const tenants = planTenants(endCon, srv6.srv6?.decapsulation ?? [], tunnelSources);
  const learning = learnsQueuePairs || intent.stamp || intent.notifications ? planLearning(intent, facts) : {};
  const shares = {
    ...congestedNode,
    senderPolicies: withGroups(congestedNode.senderPolicies, intent, aboutGroups),
    ...(congestedNode.ownAddresses && { ownAddresses: withAggregated(congestedNode.ownAddresses, groups.multicast) }),
    endConSids: planEndConSids(intent, endCon),
    replicationEndCons: planReplicationEndCons(intent, aboutGroups),
    ...queuePairs,
    ...proxy,
    ...source,
    ...flowControl,
    ...srv6,
    ...guard,
    guardedAddresses: planGuarded(intent, endCon, aboutGroups, facts),
    ...groups,
    ...learning,
    problems: [congestedNode, queuePairs, proxy, source, flowControl, srv6, guard, groups].flatMap(
      (share) => share.problems,
    ),
  };
  return tenants.known ? { ...shares, tenants, ports: withTenants(shares.ports, tenants) } : shares;
}

const withTenants = (ports: readonly EgressPortPlan[], tenants: TenantsPlan): EgressPortPlan[] =>
  ports.map((port) => {
    const tenant = portTenant(tenants, port.ifindex);
    return tenant === 0 ? port : { ...port, tenant };
  });
