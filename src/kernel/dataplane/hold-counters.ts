// The counters of holds (bpf/lib/hold/counter-rows.h), part of the table in counters.ts.

const row = (
  index: number,
  name: string,
  meaning: string,
): { readonly index: number; readonly name: string; readonly meaning: string } => ({ index, name, meaning });

export const HOLD_COUNTERS = [
  row(448, 'hold.held', 'packets put into the class of their hold, or given a departure time'),
  row(449, 'hold.leaving', 'of these, packets of a hold that ends, behind those still in its class'),
  row(450, 'hold.released', 'holds whose class was empty: their packets go straight again'),
  row(451, 'hold.straight', 'packets of released holds that the agent has not removed yet'),
  row(452, 'hold.expired', 'packets passed because the agent has not renewed their hold in time'),
  row(453, 'hold.answers-passed', 'ACKs and NAKs of held flows passed ahead of their data'),
  row(454, 'hold.unconfigured', 'packets of held flows passed at a port without classes for them'),
  row(455, 'hold.invalid', 'packets passed because their hold names no class or state'),
  row(
    456,
    'hold.unparseable',
    'packets passed whose header chain is truncated, too deep or malformed, while a flow is held',
  ),
  row(457, 'hold.full', 'packets dropped because too much of their flow waits for its departure time'),
  row(
    458,
    'hold.behind',
    'packets behind others of their flow that wait for their departure time, where it is not held any more',
  ),
];
