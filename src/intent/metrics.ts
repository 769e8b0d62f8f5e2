// The section `metrics`: where Prometheus reads metrics, and others the health, by plain HTTP.
import type * as z from 'zod';
import { enabled, filled, section, value } from './schema-parts.ts';
import { type ListenAddress, listenAddress } from './listen-address.ts';

export type MetricsIntent = ListenAddress;

export const schema = section(
  {
    enabled: enabled(),
    address: value(
      listenAddress,
      'address of this router and port on which /metrics, /livez and /readyz are served, without authentication',
    ),
  },
  'metrics and health over HTTP',
);

export const build = (declared: z.output<typeof schema>): MetricsIntent => filled(schema, declared).address;
