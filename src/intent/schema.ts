// The shape of cnpd.yaml: its sections, each with every key, its kind, its default and its meaning in the file that is
// named after it. The loader, the JSON Schema for editors and the test of docs/cnpd.yaml all read this table.
import type * as z from 'zod';
import * as bgp from './bgp.ts';
import * as border from './border.ts';
import * as codePoints from './code-points.ts';
import * as flowControl from './flow-control.ts';
import * as gnmi from './gnmi.ts';
import * as groups from './groups.ts';
import * as isis from './isis.ts';
import * as log from './log.ts';
import * as metrics from './metrics.ts';
import * as northbound from './northbound.ts';
import * as notifications from './notifications.ts';
import * as ospf from './ospf.ts';
import * as ports from './ports.ts';
import * as proxy from './proxy.ts';
import * as queuePairs from './queue-pairs.ts';
import * as router from './router.ts';
import { section } from './schema-parts.ts';
import * as source from './source.ts';
import * as srv6 from './srv6.ts';
import * as stamp from './stamp.ts';

export const cnpdSchema = section(
  {
    router: router.schema,
    isis: isis.schema.optional(),
    ospfv2: ospf.schema2.optional(),
    ospfv3: ospf.schema3.optional(),
    bgp: bgp.schema.optional(),
    proxy: proxy.schema.optional(),
    source: source.schema.optional(),
    'flow-control': flowControl.schema.optional(),
    'queue-pairs': queuePairs.schema.optional(),
    ports: ports.schema.optional(),
    'border-ports': border.ports.optional(),
    'border-allow': border.allow.optional(),
    notifications: notifications.schema.optional(),
    srv6: srv6.schema.optional(),
    groups: groups.schema.optional(),
    stamp: stamp.schema.optional(),
    'code-points': codePoints.schema.optional(),
    gnmi: gnmi.schema.optional(),
    metrics: metrics.schema.optional(),
    northbound: northbound.schema.optional(),
    log: log.schema.optional(),
  },
  'configuration of cnpd',
);

/** cnpd.yaml as declared: every value read, no default applied yet. */
export type Declared = z.output<typeof cnpdSchema>;
