// Every counter of docs/reference/counters.md as a metric of its own: `egress.no-proxy` is cnpd_egress_no_proxy_total.
// A counter that has not counted yet since the start is absent, as in `cnpctl show counters`; those of programs are
// always there.
import type { CounterState } from '../../model/state.ts';
import { type Family, one } from './family.ts';

/** The family of a counter, without the `_total` of its sample. */
export const familyNameOf = (counter: string): string => `cnpd_${counter.replaceAll(/[^a-z0-9]/g, '_')}`;

export function counterFamily(counter: CounterState, meaning: string | undefined): Family<CounterState> {
  return {
    name: familyNameOf(counter.name),
    type: 'counter',
    help: meaning === undefined ? `Counter ${counter.name}.` : `Counter ${counter.name}: ${meaning}.`,
    labels: [],
    samples: ({ value }) => [one(value)],
  };
}
