// What is shown of notifications taken for hosts, a part of the schema (schema.ts).
import { LONG_HAUL_ACTIONS } from '../model/notification.ts';
import { RECEIVED_FORMATS, SOURCE_ACTIONS } from '../model/source.ts';
import type { CnpdState } from '../model/state.ts';
import { ADDRESS, type ContainerShape, PREFIX, STRING, TIME, UINT32, UINT64, leaf, leafList } from './shape.ts';

export const SOURCES: ContainerShape<Pick<CnpdState, 'sources' | 'received' | 'holds'>>['fields'] = {
  sources: {
    kind: 'list',
    keys: ['prefix'],
    fields: {
      prefix: PREFIX,
      action: leaf(SOURCE_ACTIONS),
      notifications: UINT64,
      lastNotification: TIME,
      lastNode: ADDRESS,
    },
  },
  received: {
    kind: 'list',
    keys: ['sequence'],
    fields: {
      sequence: UINT64,
      at: TIME,
      port: STRING,
      node: ADDRESS,
      format: leaf(RECEIVED_FORMATS),
      sender: ADDRESS,
      senderQpn: UINT32,
      receiver: ADDRESS,
      receiverQpn: UINT32,
      level: leaf('uint8'),
      action: leaf(LONG_HAUL_ACTIONS),
      parameter: leaf('uint16'),
      result: leaf(['passed', 'converted', 'enforced']),
    },
  },
  holds: {
    kind: 'list',
    keys: ['sender', 'receiver', 'receiverQpn'],
    fields: {
      sender: ADDRESS,
      senderQpn: UINT32,
      receiver: ADDRESS,
      receiverQpn: UINT32,
      state: leaf(['held', 'paused', 'recovering', 'leaving']),
      rate: UINT64,
      normalRate: UINT64,
      pausedUntil: TIME,
      nodes: leafList('ip-address'),
      since: TIME,
      until: TIME,
      format: leaf(RECEIVED_FORMATS),
      action: leaf(LONG_HAUL_ACTIONS),
      parameter: leaf('uint16'),
    },
  },
};
