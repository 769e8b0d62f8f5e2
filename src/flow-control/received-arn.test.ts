// Which ARNs are obeyed: who may ask, for what, and where.
import { beforeEach, describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import type { Traffic } from '../model/flow-control.ts';
import { prefix } from '../model/prefix.ts';
import { concat } from '../packet/bytes.ts';
import { fromHex } from '../packet/hex.ts';
import { encodeArn } from '../packet/arn/arn.ts';
import { EGRESS, FLOW, NEIGHBOR, PRIORITY, SERVICE } from './flow-control.fixture.ts';
import { ArnAdmission, arnFor } from './received-arn.ts';

const OPTIONS = {
  mode: 'service',
  bitOrder: 'msb-first',
  acceptFrom: [prefix('fe80::/10')],
  ports: new Set([EGRESS]),
  limit: { perSecond: 1000, burst: 5 },
} as const;
let admission: ArnAdmission;
beforeEach(() => (admission = new ArnAdmission(OPTIONS)));

const arn = (traffic: Traffic = SERVICE, pauseMs: number | undefined = 10): Uint8Array =>
  arnFor(traffic, pauseMs, 7, 'msb-first');
const received = (change = {}) =>
  admission.request({ data: arn(), from: NEIGHBOR, hopLimit: 255, ifindex: EGRESS, ...change }, 0);

test.each([
  ['service', SERVICE],
  ['flow', FLOW],
  ['priority', PRIORITY],
] as const)(
  'FCN-4.1.2-e: an ARN in the configured mode, %s, is obeyed at the port at which it arrived',
  (mode, traffic) => {
    admission = new ArnAdmission({ ...OPTIONS, mode });
    expect(received({ data: arn(traffic) })).toEqual({
      ok: true,
      value: { held: { traffic, egress: EGRESS }, neighbor: NEIGHBOR, pauseMs: 10 },
    });
    expect(received({ data: arnFor(traffic, undefined, 0, 'msb-first') })).toMatchObject({
      value: { pauseMs: undefined },
    });
  },
);

describe('refused', () => {
  test.each([
    ['hop-limit', 'one that a router has forwarded', { hopLimit: 254 }],
    ['hop-limit', 'one whose hop limit is not known', { hopLimit: undefined }],
    ['not-a-hold-port', 'one at another port', { ifindex: EGRESS + 1 }],
    ['not-a-hold-port', 'one at an unknown port', { ifindex: undefined }],
    ['not-accepted', 'one from a stranger', { from: address('2001:db8::bad') }],
    ['other-mode', 'a flow, where services are paused', { data: arn(FLOW) }],
    ['other-mode', 'a priority, where services are paused', { data: arn(PRIORITY) }],
    ['no-time', 'congestion without a time', { data: encodeArn({ type: 'congestion', metric: 0, flow: tuple() }) }],
    ['unknown-type', 'a failure', { data: encodeArn({ type: 'failure', metric: 0, flow: tuple(), pauseUs: 1 }) }],
    ['no-scope', 'a path alone', { data: encodeArn({ type: 'congestion', metric: 0, pathId: 1, pauseUs: 1 }) }],
    [
      'no-scope',
      'a flow and a priority',
      { data: encodeArn({ type: 'congestion', metric: 0, flow: tuple(), priority: 1, pauseUs: 1 }) },
    ],
    ['no-scope', 'a TCP flow', { data: encodeArn({ type: 'congestion', metric: 0, flow: tcp(), pauseUs: 1 }) }],
    ['malformed', 'a pause of 0', { data: concat(arn().subarray(0, -4), fromHex('00000000')) }],
    ['malformed', 'a byte too many', { data: concat(arn(), Uint8Array.of(0)) }],
    ['malformed', 'a byte too few', { data: arn().subarray(0, -1) }],
    ['malformed', 'a priority above 7', { data: fromHex('0110003000000008000027 10'.replaceAll(' ', '')) }],
    ['malformed', 'nothing', { data: new Uint8Array() }],
  ])('%s: %s', (why, _, change) => {
    expect(received(change)).toEqual({ ok: false, error: why });
  });
});

test('too many at one port: the others are not concerned', () => {
  admission = new ArnAdmission({ ...OPTIONS, ports: new Set([EGRESS, 8]) });
  for (let i = 0; i < 5; i++) expect(received().ok).toBe(true);
  expect(received()).toEqual({ ok: false, error: 'limited' });
  expect(received({ ifindex: 8 }).ok).toBe(true);
  // A stranger takes nothing from a neighbor.
  for (let i = 0; i < 100; i++) received({ ifindex: 8, from: address('2001:db8::bad') });
  expect(received({ ifindex: 8 }).ok).toBe(true);
});

test('a new configuration is in force at once', () => {
  admission.configure({ ...OPTIONS, acceptFrom: [prefix('2001:db8::/32')], ports: new Set([9]) }, 1);
  expect(received()).toEqual({ ok: false, error: 'not-a-hold-port' });
  expect(received({ ifindex: 9 })).toEqual({ ok: false, error: 'not-accepted' });
});

function tuple() {
  return { ...(SERVICE as Extract<Traffic, { mode: 'service' }>), sourcePort: 0, destinationPort: 0 };
}
function tcp() {
  return { ...(FLOW as Extract<Traffic, { mode: 'flow' }>), protocol: 6 };
}
