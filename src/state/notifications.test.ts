import { describe, expect, test } from 'vitest';
import { sentNotification } from '../congestion/sent-notification.fixture.ts';
import { address } from '../model/address.ts';
import { notificationState } from './notifications.ts';

const names = { port: (ifindex: number) => `eth${ifindex}`, timeOfDay: (ns: bigint) => `t${ns}` };

describe('a notification', () => {
  test('a Long-haul CNP is shown with its instruction and END.CON', () => {
    expect(notificationState(7, sentNotification({ endCon: address('2001:db8:c::1') }), names)).toEqual({
      sequence: 7,
      at: 't1000000000',
      port: 'eth3',
      format: 'long-haul-icmpv6',
      reason: 'queue-depth',
      source: '2001:db8:1::1',
      destination: '2001:db8:2::1',
      destinationQpn: 200,
      sourceQpn: 100,
      endCon: '2001:db8:c::1',
      queueBytes: 130_000_000,
      level: 180,
      action: 'rate-reduce',
      parameter: 30,
    });
  });

  test('other formats have no instruction, and perhaps no source Queue Pair', () => {
    expect(
      notificationState(
        7,
        sentNotification({ format: 'proxy', level: 3, action: null, parameter: 0, sourceQpn: 0 }),
        names,
      ),
    ).toMatchObject({ level: 3, action: null, parameter: null, sourceQpn: null, endCon: null });
  });
});
