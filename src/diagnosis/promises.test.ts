import { describe, expect, test } from 'vitest';
import { load } from '../intent/files.fixture.ts';
import type { Intent } from '../intent/intent.ts';
import { promiseProblems } from './promises.ts';

describe(
  'PNC-6-a: border ports at which the file has something believed, ' + 'as `cnpd check` and `show status` note them',
  () => {
    const file = (interfaces: string, router = '', border = '[eth9]'): Intent =>
      load(`router: { name: leaf1, loopback: { ipv6: 2001:db8:ffff::1 }${router} }
isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }
proxy: { address: 2001:db8:ffff::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], accept-from: [2001:db8:ffff::/48]${interfaces} }
border-ports: ${border}
`);

    test('under proxy.interfaces: hosts outside could teach Queue Pairs', () => {
      expect(promiseProblems(file(', interfaces: [eth1, eth9]'))).toEqual([
        {
          code: 'proxy.border-interface',
          feature: 'proxy',
          problem: expect.stringMatching(
            /^eth9 is a border port and under proxy\.interfaces: hosts outside the domain can teach and remove Queue Pairs/,
          ),
          remedy: expect.stringContaining('remove eth9 from proxy.interfaces'),
        },
      ]);
    });

    test('under router.core-ports; none if they are disjoint, or no interface is named', () => {
      expect(promiseProblems(file('', ', core-ports: [eth2, eth9]'))).toMatchObject([
        { feature: 'router', problem: expect.stringContaining('eth9 is a border port and under router.core-ports') },
      ]);
      for (const apart of [file(', interfaces: [eth1]'), file(''), file('', ', core-ports: [eth2]')])
        expect(promiseProblems(apart)).toEqual([]);
    });
  },
);
