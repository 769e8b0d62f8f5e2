import { describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import { fuzzDecoder } from '../packet/hostile.fixture.ts';
import { buildParameterProblem } from '../packet/icmpv6/parameter-problem.ts';
import { buildFastCnp } from '../packet/roce/fast-cnp.ts';
import { RECEIVER, SENDER, sentNotification } from './sent-notification.fixture.ts';
import { EVIDENCE_MS, MOST_EVIDENCE, Refusals } from './refusals.ts';

const LOOPBACK = address('2001:db8:ffff::2');
const CODES = { option: 0x9e, ioamOption: 0x9e };
const SENT = sentNotification({ format: 'fast-cnp', action: null, level: 0, parameter: 0 });
/** Of the option in a Destination Options header right behind the IPv6 header. */
const POINTER = 42;

const fastCnp = (
  more: { source?: IpAddress; destination?: IpAddress; originalDestination?: IpAddress; destQpn?: number } = {},
): Uint8Array =>
  buildFastCnp({
    source: LOOPBACK,
    destination: SENDER,
    sourcePort: 0xc000,
    destQpn: 200,
    originalDestination: RECEIVER,
    trace: undefined,
    codes: { ...CODES, icrc: 'cover' },
    ...more,
  });
/** What a raw socket delivers of a host's answer. */
const answer = (invoking: Uint8Array, { code = 2, pointer = POINTER } = {}): Uint8Array =>
  buildParameterProblem({ source: SENDER, destination: LOOPBACK }, { code, pointer, invoking }).subarray(40);

function refusals(): Refusals {
  const machine = new Refusals({ source6: LOOPBACK, fastCnp: CODES }, 0);
  machine.notified(SENT, 0);
  return machine;
}

describe('FCNP-4-j: a host reports that it does not know the Fast CNP option', () => {
  test('is accepted if it quotes the Fast CNP that was sent to it', () => {
    expect(refusals().parameterProblem(SENDER, answer(fastCnp()), 10)).toEqual({
      ok: true,
      value: { host: SENDER, sentTo: SENDER },
    });
  });

  test('must come from where the Fast CNP was sent: from END.CON if this node may have no route to the host', () => {
    const endCon = address('2001:db8:c::1');
    const machine = new Refusals({ source6: LOOPBACK, fastCnp: CODES }, 0);
    machine.notified({ ...SENT, endCon }, 0);
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), 10)).toEqual({
      ok: true,
      value: { host: SENDER, sentTo: endCon },
    });
  });

  const other = address('2001:db8:1::99');
  const forged: [string, IpAddress, Uint8Array, string][] = [
    ['for another flow', SENDER, answer(fastCnp({ destQpn: 201 })), 'unknown'],
    ['for another receiver', SENDER, answer(fastCnp({ originalDestination: other })), 'unknown'],
    ['for a flow of which the host was sent none', other, answer(fastCnp({ destination: other })), 'unknown'],
    ['from a host that was sent nothing', address('2001:db8:1::98'), answer(fastCnp()), 'unknown'],
    ['from another host', other, answer(fastCnp()), 'not-from-host'],
    ['about a Fast CNP of another node', SENDER, answer(fastCnp({ source: other })), 'not-ours'],
    ['with another pointer', SENDER, answer(fastCnp(), { pointer: 40 }), 'other'],
    ['with another code', SENDER, answer(fastCnp(), { code: 1 }), 'other'],
    ['that quotes nothing', SENDER, answer(new Uint8Array()), 'malformed'],
    ['that quotes no more than the option', SENDER, answer(fastCnp().subarray(0, 64)), 'malformed'],
    ['that is no Parameter Problem', SENDER, Uint8Array.of(128, 0, 0, 0, 0, 0, 0, 0), 'malformed'],
    ['that is cut', SENDER, answer(fastCnp()).subarray(0, 7), 'malformed'],
  ];
  for (const [what, from, message, error] of forged) {
    test(`one ${what} is not believed: ${error}`, () => {
      const machine = refusals();
      machine.notified({ ...SENT, source: other, destinationQpn: 999 }, 5);
      expect(machine.parameterProblem(from, message, 10)).toEqual({ ok: false, error });
    });
  }

  test('a Fast CNP sent too long ago is no evidence', () => {
    expect(refusals().parameterProblem(SENDER, answer(fastCnp()), EVIDENCE_MS).ok).toBe(true);
    expect(refusals().parameterProblem(SENDER, answer(fastCnp()), EVIDENCE_MS + 1)).toEqual({
      ok: false,
      error: 'unknown',
    });
  });

  test('each flow has its own time, and so has the host', () => {
    const machine = refusals();
    machine.notified({ ...SENT, destinationQpn: 201 }, EVIDENCE_MS);
    // About a flow of which too long ago, though the host was sent something since.
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), EVIDENCE_MS + 1)).toEqual({
      ok: false,
      error: 'unknown',
    });
    expect(machine.parameterProblem(SENDER, answer(fastCnp({ destQpn: 201 })), 2 * EVIDENCE_MS).ok).toBe(true);
    expect(machine.parameterProblem(SENDER, answer(fastCnp({ destQpn: 201 })), 2 * EVIDENCE_MS + 1)).toEqual({
      ok: false,
      error: 'unknown',
    });
    // Whose host is too long silent is not even read.
    expect(machine.parameterProblem(SENDER, Uint8Array.of(1), 2 * EVIDENCE_MS + 1)).toEqual({
      ok: false,
      error: 'unknown',
    });
    expect(machine.parameterProblem(SENDER, Uint8Array.of(1), 2 * EVIDENCE_MS)).toEqual({
      ok: false,
      error: 'malformed',
    });
  });

  test('other formats are no evidence', () => {
    const machine = new Refusals({ source6: LOOPBACK, fastCnp: CODES }, 0);
    machine.notified(sentNotification(), 0);
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), 1)).toEqual({ ok: false, error: 'unknown' });
  });

  test('a node that sends no Fast CNP accepts no refusals', () => {
    const machine = refusals();
    machine.configure({ source6: LOOPBACK });
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), 1)).toEqual({ ok: false, error: 'not-ours' });
  });

  test('a flood of them is rate-limited', () => {
    const machine = refusals();
    const results = Array.from({ length: 1000 }, (_, i) =>
      machine.parameterProblem(SENDER, answer(fastCnp()), i / 1000),
    );
    expect(results.filter((r) => !r.ok && r.error === 'rate-limited').length).toBeGreaterThan(890);
  });

  test('a flood from others does not block the host’s refusal', () => {
    const machine = refusals();
    for (let i = 0; i < 1000; i++)
      expect(machine.parameterProblem(other, answer(fastCnp()), i / 1000)).toEqual({ ok: false, error: 'unknown' });
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), 1)).toEqual({
      ok: true,
      value: { host: SENDER, sentTo: SENDER },
    });
  });

  test('the memory of sent Fast CNPs is bounded', () => {
    const machine = refusals();
    for (let i = 0; i < MOST_EVIDENCE; i++) machine.notified({ ...SENT, destinationQpn: 1000 + i }, 1);
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), 2)).toEqual({ ok: false, error: 'unknown' });
    expect(machine.parameterProblem(SENDER, answer(fastCnp({ destQpn: 1000 })), 2).ok).toBe(true);
  });

  test('a flow that is notified again is remembered as the latest, and its host with it', () => {
    const machine = refusals();
    for (let i = 1; i < MOST_EVIDENCE; i++)
      machine.notified({ ...SENT, source: { ...other, value: other.value + BigInt(i) } }, 1);
    machine.notified(SENT, 1);
    machine.notified({ ...SENT, source: other }, 1);
    expect(machine.parameterProblem(SENDER, answer(fastCnp()), 2)).toEqual({
      ok: true,
      value: { host: SENDER, sentTo: SENDER },
    });
  });

  test('one host above the limit evicts the oldest, and no other', () => {
    const machine = new Refusals({ source6: LOOPBACK, fastCnp: CODES }, 0);
    const host = (i: number): IpAddress => ({ ...other, value: other.value + BigInt(i) });
    for (let i = 0; i <= MOST_EVIDENCE; i++) machine.notified({ ...SENT, source: host(i) }, 1);
    const answers = [0, 1, MOST_EVIDENCE].map((i) => machine.parameterProblem(host(i), Uint8Array.of(128, 0, 0, 0), 2));
    // Of the others the message is read, and malformed.
    expect(answers.map((a) => !a.ok && a.error)).toEqual(['unknown', 'malformed', 'malformed']);
  });

  test('no message makes it throw', () => {
    // A fresh one each time: the bucket would refuse the later ones unread.
    fuzzDecoder((message) => refusals().parameterProblem(SENDER, message, 1), [answer(fastCnp())]);
  });
});
