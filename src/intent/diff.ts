// What a reload changes: the sections of two intents that differ, for the log and for the answer to the request.
import { isDeepStrictEqual } from 'node:util';
import type { Intent } from './intent.ts';

/** Field of Intent → the name of its section in cnpd.yaml. */
const SECTIONS = {
  router: 'router',
  isis: 'isis',
  ospfv2: 'ospfv2',
  ospfv3: 'ospfv3',
  bgp: 'bgp',
  proxy: 'proxy',
  source: 'source',
  flowControl: 'flow-control',
  queuePairs: 'queue-pairs',
  ports: 'ports',
  borderPorts: 'border-ports',
  borderAllow: 'border-allow',
  notifications: 'notifications',
  srv6: 'srv6',
  groups: 'groups',
  stamp: 'stamp',
  codePoints: 'code-points',
  arnBitOrder: 'code-points',
  gnmiSocket: 'gnmi',
  gnmiSocketGroup: 'gnmi',
  gnmiSetGroup: 'gnmi',
  metrics: 'metrics',
  northbound: 'northbound',
  logLevel: 'log',
} as const satisfies Record<keyof Intent, string>;

type IntentSection = (typeof SECTIONS)[keyof Intent];

export const diffIntent = (before: Intent, after: Intent): IntentSection[] => [
  ...new Set(
    (Object.keys(SECTIONS) as (keyof Intent)[])
      .filter((field) => !isDeepStrictEqual(before[field], after[field]))
      .map((field) => SECTIONS[field]),
  ),
];
