// The monitored ports in `cnpctl doctor`: which queue is measured. What is wrong with one is a problem of the plan, and
// is not repeated here.
import type { Intent } from '../intent/intent.ts';
import type { KernelError } from '../kernel/errors.ts';
import type { Check } from '../model/problem.ts';
import { ownQueue } from '../plan/congested-node.ts';
import type { Facts } from '../plan/facts.ts';
import { portQueue } from '../plan/port-queue.ts';

export function checkMonitoredPorts(intent: Pick<Intent, 'ports'>, facts: Pick<Facts, 'links' | 'qdiscs'>): Check[] {
  return intent.ports.flatMap((port): Check[] => {
    const link = facts.links.find(({ name }) => name === port.interface);
    const queue = link && portQueue(link, facts, ownQueue(port));
    if (!queue?.readable) return [];
    const claim = `${port.interface} has a queue that can be measured: ${queue.measured}`;
    return [{ id: `monitored-ports.${port.interface}`, claim, state: 'ok' }];
  });
}

/** The kernel does not report ports. */
export const monitoredPortsUnknown = ({ message }: KernelError): Check => ({
  id: 'monitored-ports',
  claim: 'the queues of the monitored ports can be examined',
  state: 'unknown',
  problem: message,
  remedy: 'run this as root',
});
