// The core ports in `cnpctl doctor` (src/plan/port-roles.ts). A source behind a next hop is accepted at each of them,
// so
// operators should see which ports they are. A route through a host makes the port to that host a core port.
import type { Intent } from '../intent/intent.ts';
import type { KernelError } from '../kernel/errors.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import { formatPrefix, prefixContains } from '../model/prefix.ts';
import type { Check } from '../model/problem.ts';

interface PortOfRouter {
  readonly name: string;
  readonly ifindex: number;
  readonly addresses: readonly IpAddress[];
}

/**
 * @param isGateway whether a route through a gateway uses the interface; called only where that decides
 * @returns none where core ports are not used for any check
 */
export function checkCorePorts(
  intent: Intent,
  ports: readonly PortOfRouter[],
  isGateway: (ifindex: number) => boolean,
): Check[] {
  const { proxy, notifications, stamp, router, borderPorts } = intent;
  if (!proxy && !notifications && !stamp) return [];
  const id = 'core-ports';
  const inside = ports.filter(({ name }) => !borderPorts.includes(name));
  const named = router.corePorts;
  const core = inside.filter((port) => (named ? named.includes(port.name) : isGateway(port.ifindex)));
  const names = core.map(({ name }) => name).join(', ') || 'none';
  const why = named
    ? 'router.core-ports'
    : 'those with a route through a gateway; router.core-ports names them instead';
  const list: Check = {
    id,
    claim: `core ports, on which sources behind other routers are accepted: ${names} (${why})`,
    state: 'ok',
  };
  const doubtful = core.flatMap((port) => hostsBehind(intent, port));
  // If all addresses are senders', as with one prefix for everything, addresses prove nothing.
  return doubtful.length < core.length ? [list, ...doubtful] : [list];
}

/**
 * If the router's own address on a port is in a sender prefix, hosts are on the link: a gateway there may be a host.
 */
function hostsBehind({ proxy, router }: Intent, { name, addresses }: PortOfRouter): Check[] {
  const senders = proxy?.senders ?? [];
  const found = addresses.flatMap((address) =>
    senders.filter(({ prefix }) => prefixContains(prefix, address)).map(({ prefix }) => ({ address, prefix })),
  )[0];
  if (!found) return [];
  const by = router.corePorts ? 'router.core-ports names it' : 'a route through a gateway leaves by it';
  return [
    {
      id: `core-ports.${name}`,
      claim: `${name} leads only to other routers`,
      state: 'warning',
      problem:
        `${name} counts as a core port (${by}), ` +
        `and its address ${formatAddress(found.address)} is of the senders ${formatPrefix(found.prefix)}: ` +
        'each host on that link can teach and remove the Queue Pairs of senders behind other routers',
      remedy: `name the ports to other routers under router.core-ports in cnpd.yaml, without ${name}`,
    },
  ];
}

/** The kernel does not report the routes. */
export const corePortsUnknown = ({ message }: KernelError): Check => ({
  id: 'core-ports',
  claim: 'the core ports can be listed',
  state: 'unknown',
  problem: message,
  remedy: 'run this as root',
});
