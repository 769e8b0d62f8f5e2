import { expect, test } from 'vitest';
import { FACTS, intentOf } from '../plan/inputs.fixture.ts';
import { checkMonitoredPorts } from './monitored-ports.ts';

const PORTS =
  'ports: [{ interface: wan, k-max: 50kB }, { interface: eth1, k-max: 50kB }, { interface: eth9, k-max: 1kB }]';

test('says which queue of a port is measured, and leaves what is wrong to the plan', () => {
  const mq = { ifindex: 2, rootKind: 'mq', queueKinds: ['fq_codel', 'fq_codel'] };
  expect(checkMonitoredPorts(intentOf(PORTS), { ...FACTS, qdiscs: [...FACTS.qdiscs, mq] })).toEqual([
    { id: 'monitored-ports.wan', state: 'ok', claim: 'wan has a queue that can be measured: its root, tbf' },
    {
      id: 'monitored-ports.eth1',
      state: 'ok',
      claim: expect.stringContaining(
        'eth1 has a queue that can be measured: the sum over 2 transmit queues (2 fq_codel)',
      ),
    },
  ]);
  expect(checkMonitoredPorts(intentOf(PORTS), FACTS)).toHaveLength(1);
});
