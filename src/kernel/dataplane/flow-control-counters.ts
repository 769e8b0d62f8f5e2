// The counters of precise flow control (bpf/lib/flow-control/counter-rows.h), part of the table in counters.ts.

const row = (
  index: number,
  name: string,
  meaning: string,
): { readonly index: number; readonly name: string; readonly meaning: string } => ({ index, name, meaning });

export const FLOW_CONTROL_COUNTERS = [
  row(480, 'flow-control.arrivals', 'flows of which it was learned how they arrive, or that it has changed'),
  row(481, 'flow-control.arrival-lost', 'flows of which that could not be kept: no memory'),
  row(482, 'flow-control.recorded', 'packets reported to the agent'),
  row(
    483,
    'flow-control.no-arrival',
    'packets over the threshold that have not arrived at an interface of flow control lately',
  ),
  row(484, 'flow-control.hairpin', 'packets over the threshold that leave by the interface at which they arrived'),
  row(485, 'flow-control.no-tunnel', 'packets over the threshold that arrived in no tunnel, while services are paused'),
  row(486, 'flow-control.suppressed', 'packets over the threshold whose traffic has been reported lately'),
  row(487, 'flow-control.limited', 'packets over the threshold not reported because of the limit for all'),
  row(488, 'flow-control.record-lost', 'packets over the threshold not reported because the agent does not keep up'),
  row(489, 'flow-control.no-queue', 'packets at a watched port whose queue cannot be read'),
  row(490, 'flow-control.fragment', 'fragments passed, whose flow is not known'),
  row(491, 'flow-control.unparseable', 'packets passed whose header chain is truncated, too deep or malformed'),
  row(
    492,
    'flow-control.not-contributing',
    'packets over the threshold whose traffic has too small a share of the queue',
  ),
  row(
    493,
    'flow-control.other-arrival',
    'packets over the threshold that did not arrive as the latest of their flow did',
  ),
];
