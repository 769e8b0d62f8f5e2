// Intent, what was learned, and what is true of this machine → what the kernel should hold. Pure: no I/O, no clock. One file a feature.
//
// plan() is called after a reload and when links or qdiscs change. What the network learns does not call it: the learned table's difference goes
// through senderProxyChanges straight to reconcile, so that one changed prefix costs one map entry. Its cost is that of the configuration;
// senderProxies in the result is lazy (desired.ts).
import type { Intent } from '../intent/intent.ts';
import { type LearnedView, planCongestedNode } from './congested-node.ts';
import type { DesiredState } from './desired.ts';
import type { Facts } from './facts.ts';
import { planGuard } from './guard.ts';
import { planProxy } from './proxy.ts';

export function plan(intent: Intent, learned: LearnedView, facts: Facts): DesiredState {
  const parts = [planCongestedNode(intent, learned, facts), planProxy(intent, facts), planGuard(intent, facts)] as const;
  const [congestedNode, proxy, guard] = parts;
  return { ...congestedNode, ...proxy, ...guard, problems: parts.flatMap((part) => part.problems) };
}
