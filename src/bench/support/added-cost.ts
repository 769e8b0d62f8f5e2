// Rows of figures that several files measure alike: what a program adds to a packet, measured in turns with the empty
// program, and a time beside its own 99th percentile.
import { structure } from '../../kernel/dataplane/layout.ts';
import type { Row } from './report.ts';
import { differences, inTurns, quantile, summary } from './statistics.ts';

/** struct __sk_buff for a test run of a program: the packet is at this interface. */
export const contextAt = (ifindex: number): Uint8Array => structure(192, (view) => view.setUint32(40, ifindex, true));

/** The two contenders return nanoseconds. Without a target the figure has none. */
export async function addedCost(
  named: { readonly figure: string; readonly what: string; readonly targetNs?: number | undefined },
  rounds: number,
  contenders: { readonly empty: () => number; readonly program: () => number },
): Promise<Row> {
  const measured = await inTurns(rounds, contenders);
  const [added, empty] = [summary(differences(measured.program, measured.empty)), summary(measured.empty)];
  const { figure, what, targetNs } = named;
  return {
    ...{ figure, what, unit: 'ns' },
    measured: added.median,
    spread: added,
    reference: 'empty program',
    referenceValue: empty.median,
    referenceSpread: empty,
    ratio: added.median / empty.median,
    target: targetNs === undefined ? '—' : `≤ ${targetNs.toLocaleString('en-US')} ns`,
    met: targetNs === undefined ? null : added.median <= targetNs,
  };
}

/** @param target `ms`: of the 99th percentile; `text`: as it is shown */
export function percentileRow(
  named: { readonly figure: string; readonly what: string },
  times: readonly number[],
  target: { readonly ms: number; readonly text: string },
): Row {
  const [spread, p99] = [summary(times), quantile(times, 0.99)];
  return {
    ...named,
    unit: 'ms',
    measured: spread.median,
    spread,
    reference: 'its 99th percentile',
    referenceValue: p99,
    ratio: spread.median / p99,
    target: target.text,
    met: p99 <= target.ms,
  };
}
