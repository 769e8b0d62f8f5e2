// What is shown of precise flow control, a part of the schema (schema.ts).
import { FLOW_CONTROL_MODES } from '../model/flow-control.ts';
import { type FlowControlState, PAUSE_STATES, type TrafficState } from '../model/flow-control-state.ts';
import { ARN_BIT_ORDERS } from '../model/code-points.ts';
import { ADDRESS, BOOLEAN, type ContainerShape, STRING, TIME, UINT32, UINT64, leaf } from './shape.ts';

const TRAFFIC: ContainerShape<TrafficState>['fields'] = {
  traffic: STRING,
  source: ADDRESS,
  destination: ADDRESS,
  protocol: leaf('uint8'),
  sourcePort: leaf('uint16'),
  destinationPort: leaf('uint16'),
  priority: leaf('uint8'),
};

export const FLOW_CONTROL: ContainerShape<FlowControlState> = {
  kind: 'container',
  fields: {
    mode: leaf(FLOW_CONTROL_MODES),
    udpPort: leaf('uint16'),
    bitOrder: leaf(ARN_BIT_ORDERS),
    ports: {
      kind: 'list',
      keys: ['interface'],
      fields: {
        interface: STRING,
        watched: BOOLEAN,
        holds: BOOLEAN,
        pauseAbove: UINT64,
        resumeBelow: UINT64,
        asked: UINT32,
        paused: UINT32,
      },
    },
    asked: {
      kind: 'list',
      keys: ['ingress', 'neighbor', 'interface', 'reason', 'traffic'],
      fields: {
        ...TRAFFIC,
        ingress: STRING,
        neighbor: ADDRESS,
        interface: STRING,
        reason: leaf(['queue', 'held']),
        since: TIME,
        until: TIME,
        times: UINT32,
      },
    },
    paused: {
      kind: 'list',
      keys: ['interface', 'traffic'],
      fields: {
        ...TRAFFIC,
        interface: STRING,
        neighbor: ADDRESS,
        state: leaf(PAUSE_STATES),
        since: TIME,
        until: TIME,
        pauseUs: UINT32,
        times: UINT32,
      },
    },
  },
};
