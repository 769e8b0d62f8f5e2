// At which ports a feature sees the packets of this domain: those that the operator has named, or all that may carry
// RoCEv2. The proxy and the source have this in common.
import type { Intent } from '../intent/intent.ts';
import type { Problem } from '../model/problem.ts';
import { type Facts, type LinkFact, borderMissing, findLink, interfaceMissing, roceLinks } from './facts.ts';

interface PortsWanted {
  /** The section, which has a key `interfaces`. */
  readonly feature: 'proxy' | 'source' | 'flow-control';
  /** The operator's. Empty: all. */
  readonly named: readonly string[];
  /** What happens there, for the problem that a border port is missing. */
  readonly does: string;
}

const CODES = {
  proxy: { none: 'proxy.no-interface', notEthernet: 'proxy.not-ethernet' },
  source: { none: 'source.no-interface', notEthernet: 'source.not-ethernet' },
  'flow-control': { none: 'flow-control.no-interface', notEthernet: 'flow-control.not-ethernet' },
} as const;
const COMES = { proxy: 'notices', source: 'notifications', 'flow-control': 'traffic' } as const;
const WHOSE = { proxy: "the proxy's", source: "the source's", 'flow-control': "flow control's" } as const;

/** @param problems gets what is wrong with the ports */
export function portsOf(
  { feature, named, does }: PortsWanted,
  intent: Intent,
  facts: Facts,
  problems: Problem[],
): LinkFact[] {
  if (named.length === 0) {
    const links = roceLinks(facts, intent);
    const uncertain = borderMissing(feature, does, facts, intent);
    problems.push(...uncertain);
    if (links.length === 0 && uncertain.length === 0)
      problems.push({
        code: CODES[feature].none,
        feature,
        problem: `there is no Ethernet-like interface for ${COMES[feature]}`,
        remedy: `name the interfaces under ${feature}.interfaces in cnpd.yaml`,
      });
    return links;
  }
  return named.flatMap((name) => {
    const link = findLink(facts, name);
    if (link?.etherLike) return [link];
    const problem = `${name} has no Ethernet header, which ${WHOSE[feature]} program requires`;
    problems.push(
      link
        ? { code: CODES[feature].notEthernet, feature, problem, remedy: `take ${name} out of ${feature}.interfaces` }
        : interfaceMissing(`${feature}.interfaces`, name),
    );
    return [];
  });
}
