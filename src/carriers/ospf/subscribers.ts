// The functions that are called after changes of what was read from the database and of reachability, in this order.
import type { Subscribers } from './content-state.ts';
import { neighborFound, offersChanged, originatorsChanged } from './leaking/offers.ts';
import { learnChange } from './learning/learning.ts';
import { topologyChanged } from './learning/reachability.ts';

export const SUBSCRIBERS: Subscribers = {
  lsaChanged: [topologyChanged, learnChange],
  entriesChanged: [offersChanged],
  routersChanged: [originatorsChanged],
  neighborFound: [neighborFound],
};
