// For tests: a router of both levels with stubs around it, and the prefixes they advertise.
import { formatAddress } from '../../../model/address.ts';
import { P_FLAG, prefixEntry } from '../../../packet/isis/foreign.fixture.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv, PrefixReachability } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { lsp } from '../hostile.fixture.ts';
import type { IsisKinds } from '../kinds/table.ts';
import { Router } from '../router.fixture.ts';
import { Agent, Simulation, systemId, testConfig } from '../simulation.fixture.ts';
import type { SpeakerConfig } from '../state.ts';

export const ORIGIN = '0000.0000.0001';
export const AGENT_A = '0000.0000.00aa';
export const AGENT_B = '0000.0000.00bb';
export const LEARNER = '0000.0000.00ff';

export interface Net {
  simulation: Simulation;
  router: Router;
  add(system: string, levels: readonly Level[], overrides?: Partial<SpeakerConfig>, kinds?: IsisKinds): Agent;
}

/** One router of both levels with stubs around it. */
export function net(): Net {
  const simulation = new Simulation();
  const router = new Router(simulation, '0000.0000.1111');
  let seed = 10;
  const add: Net['add'] = (system, levels, overrides = {}, kinds = undefined) => {
    const agent = new Agent(simulation, testConfig(system, { levels, seed: seed++, ...overrides }), kinds);
    simulation.wire(agent.attach, router.attach);
    return agent;
  };
  return { simulation, router, add };
}

/** The prefixes of a system in a level, as stored by the router. */
export function advertised(router: Router, level: Level, system: string): PrefixReachability[] {
  return [...router.lsps[level]]
    .filter(([key, lsp]) => key.startsWith(system) && lsp.lifetime > 0)
    .flatMap(([, lsp]) => {
      const decoded = decodePdu(lsp.raw);
      const tlvs = decoded.ok && decoded.value.kind === 'lsp' ? decoded.value.tlvs : [];
      return tlvs.flatMap((tlv) =>
        tlv.kind === 'ipv6-reachability' || tlv.kind === 'ipv4-reachability' ? tlv.prefixes : [],
      );
    });
}

export const flagsOf = (p: PrefixReachability): Uint8Array =>
  p.subTlvs.find((t) => t.kind === 'prefix-attribute-flags')!.flags;
export const learned = (agent: Agent): string[] =>
  agent.prefixes().map((p) => `${p.pnc ? 'P' : '-'} ${p.proxy ? formatAddress(p.proxy) : 'none'}`);

/** Delivers fragments of the router, which is reachable in both levels, in one level only. */
export const advertise = (
  agent: Agent,
  level: Level,
  fragment: number,
  prefixes: Partial<PrefixReachability>[],
  sequence = 7,
): void => {
  const all = prefixes.map((rest) => prefixEntry('2001:db8:1::/64', [P_FLAG], { metric: 5, ...rest }));
  const tlvs: IsisTlv[] = all.map((p) =>
    p.prefix.address.family === 4
      ? { kind: 'ipv4-reachability', prefixes: [p] }
      : { kind: 'ipv6-reachability', prefixes: [p] },
  );
  agent.deliver(
    lsp({ level, sequence, lspId: { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment }, tlvs }),
  );
};
