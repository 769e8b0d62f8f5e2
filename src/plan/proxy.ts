// The proxy (PNC §5): at which interfaces notices arrive, from whom they are accepted, which senders are served. The
// program is attached where RoCEv2 passes, because it learns Queue Pairs from the traffic. Notices of this router's own
// ports arrive at the loopback interface, which reconcile adds to the list. Their source, the loopback address, is
// accepted without being declared.
import type { Intent, ProxyIntent } from '../intent/intent.ts';
import { type Family, type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { type Prefix, formatPrefix, hostPrefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, ProxyPlan } from './desired.ts';
import { type Facts, addressRemedy, forwardingProblems, missingFeatures } from './facts.ts';
import { instructionsByLevel, planProxyBuilder } from './notifier.ts';
import { onceEach } from './once-each.ts';
import { notifies } from './policy.ts';
import { portsOf } from './roce-ports.ts';
import { burstOf, nanoseconds } from './token-bucket.ts';

/** The proxy's address, or one of each family. */
export const proxyAddresses = ({ address, otherAddress }: Pick<ProxyIntent, 'address' | 'otherAddress'>): IpAddress[] =>
  otherAddress ? [address, otherAddress] : [address];

/** The proxy address to advertise for senders of a family: the one of that family if there is one, else the other. */
export const proxyAddressFor = (proxy: Pick<ProxyIntent, 'address' | 'otherAddress'>, family: Family): IpAddress =>
  proxy.otherAddress?.family === family ? proxy.otherAddress : proxy.address;

export function planProxy(intent: Intent, facts: Facts): Pick<DesiredState, 'proxy' | 'builder' | 'problems'> {
  const { proxy } = intent;
  if (!proxy) return { problems: [] };
  const problems = missingFeatures('proxy', facts);
  if (problems.length > 0) return { problems };
  const links = portsOf(
    { feature: 'proxy', named: proxy.interfaces, does: 'notices are accepted, and Queue Pairs learned,' },
    intent,
    facts,
    problems,
  );
  problems.push(
    ...addressProblems(proxy, facts),
    ...forwardingProblems(
      'proxy',
      proxy.senders.map((s) => s.prefix.address.family),
      facts,
    ),
  );
  const { builder, problems: lacking } = planProxyBuilder(intent, facts);
  problems.push(...lacking);
  const plan: ProxyPlan = {
    address: proxy.address,
    ...(proxy.otherAddress && { otherAddress: proxy.otherAddress }),
    udpPort: intent.codePoints['pnc-udp-port'],
    // Without a builder, only senders that the proxy's own program can notify remain.
    senders: builder ? sendersOf(proxy.senders) : standardOf(sendersOf(proxy.senders)),
    ...(builder?.longHaul && { instructions: instructionsByLevel(intent) }),
    acceptFrom: sourcesOf(proxy.acceptFrom, intent),
    perFlowIntervalNs: nanoseconds(proxy.perFlowIntervalMs),
    noticesPerSecond: proxy.noticesPerSecond,
    burst: burstOf(proxy.noticesPerSecond),
    interfaces: links.map(({ name, ifindex }) => ({ id: name, interface: name, ifindex })),
  };
  return { proxy: plan, ...(builder && { builder }), problems };
}

const sendersOf = onceEach((senders: ProxyIntent['senders']): ProxyPlan['senders'] =>
  senders.map(({ prefix, format }) => ({ id: formatPrefix(prefix), prefix, format })),
);

const standardOf = onceEach((senders: ProxyPlan['senders']) =>
  senders.filter(({ format }) => format === 'standard-cnp'),
);

/** The declared sources, and this router itself if it is a congested node too. */
export function sourcesOf(acceptFrom: readonly Prefix[], intent: Intent): ProxyPlan['acceptFrom'] {
  const own = [intent.router.loopback4, intent.router.loopback6].flatMap((a) =>
    a && notifies(intent) ? hostPrefix(a) : [],
  );
  return [...new Map([...acceptFrom, ...own].map((prefix) => [formatPrefix(prefix), prefix]))].map(([id, prefix]) => ({
    id,
    prefix,
  }));
}

function addressProblems(proxy: ProxyIntent, facts: Facts): Problem[] {
  return proxyAddresses(proxy).flatMap((address): Problem[] => {
    if (!facts.addresses || facts.addresses.some((own) => sameAddress(own, address))) return [];
    const remedy = `${addressRemedy(address, facts)}, or correct proxy.address in cnpd.yaml`;
    return [
      {
        code: 'proxy.address-not-own',
        feature: 'proxy',
        problem: `${formatAddress(address)}, the proxy's address, is not an address of this router: notices will not arrive`,
        remedy,
      },
    ];
  });
}
