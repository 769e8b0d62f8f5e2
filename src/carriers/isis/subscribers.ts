// The subscribers to changes of the link-state database and of reachability, in this order.
import { offersChanged, originatorsChanged } from './leaking/offers.ts';
import { reconsider } from './lsdb/expansion.ts';
import { siblingsChanged } from './lsdb/learning.ts';
import { topologyChanged } from './lsdb/reachability.ts';
import type { Subscribers } from './state.ts';

export const SUBSCRIBERS: Subscribers = {
  lspChanged: [topologyChanged, offersChanged, siblingsChanged],
  entriesChanged: [offersChanged],
  systemsChanged: [reconsider, originatorsChanged],
};
