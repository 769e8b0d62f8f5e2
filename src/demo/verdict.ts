// Did the demo show what it claims? Pure. Each failure is a sentence.
import { BOUNDED_QUEUE } from './modes.ts';
import type { Learned, RunResult } from './results.ts';

const CNP_OPCODE = 0x81;

/** What the demo expects p1 to have learned: h1's prefix, and leaf1's loopback as its proxy. */
export const EXPECTED = { carrier: 'isis', prefix: '2001:db8:1::/64', proxy: '2001:db8:ffff::1' } as const;

const hex = (value: number | null): string => (value === null ? 'none, or several' : `0x${value.toString(16)}`);

function checkLearned(learned: Learned | null): string[] {
  if (!learned) return [`p1 has learned no proxy for ${EXPECTED.prefix}`];
  return (['carrier', 'prefix', 'proxy'] as const)
    .filter((field) => learned[field] !== EXPECTED[field])
    .map((field) => `p1's mapping has the ${field} ${learned[field]}, expected ${EXPECTED[field]}`);
}

function checkCnps(run: RunResult): string[] {
  const { cnp } = run;
  const failures: string[] = [];
  if (cnp.count === 0) return [`${run.mode}: no CNP was seen on h1's wire`];
  if (cnp.opcode !== CNP_OPCODE) failures.push(`${run.mode}: the opcode of the CNPs on h1's wire is ${hex(cnp.opcode)}, expected 0x81`);
  if (cnp.destQpn !== cnp.expectedQpn) failures.push(`${run.mode}: the CNPs are for Queue Pair ${hex(cnp.destQpn)}, h1's is ${hex(cnp.expectedQpn)}`);
  if (!cnp.icrcValid) failures.push(`${run.mode}: a CNP on h1's wire has a wrong ICRC`);
  return failures;
}

function checkCnpd(run: RunResult): string[] {
  const failures = checkCnps(run);
  if (run.receiverCnps !== 0) failures.push(`cnpd: h2 sent ${run.receiverCnps} CNPs, although told not to: not every CNP is cnpd's`);
  if (run.peakQueueBytes > BOUNDED_QUEUE) failures.push(`cnpd: the queue reached ${run.peakQueueBytes} bytes, more than ${BOUNDED_QUEUE}`);
  if (run.drops !== 0) failures.push(`cnpd: the WAN port dropped ${run.drops} packets`);
  return failures;
}

/** @returns what is not as it should be; empty: all is well */
export function verdict(learned: Learned | null, runs: readonly RunResult[]): string[] {
  const run = (mode: RunResult['mode']): RunResult | undefined => runs.find((r) => r.mode === mode);
  const failures = checkLearned(learned);
  const [none, receiver, cnpd] = [run('none'), run('receiver'), run('cnpd')];
  if (!none || !receiver || !cnpd) return [...failures, 'not all three runs were made'];
  if (none.cnp.count !== 0) failures.push(`none: ${none.cnp.count} CNPs were seen, although nobody should send any`);
  failures.push(...checkCnps(receiver), ...checkCnpd(cnpd));
  if (cnpd.firstFeedbackMs !== null && receiver.firstFeedbackMs !== null && cnpd.firstFeedbackMs >= receiver.firstFeedbackMs) {
    failures.push(`cnpd's first feedback took ${cnpd.firstFeedbackMs} ms, no less than the receiver's ${receiver.firstFeedbackMs} ms`);
  }
  return failures;
}
