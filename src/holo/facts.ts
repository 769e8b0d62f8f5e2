// What Holo reports about itself and about the interfaces that cnpd uses, and what the kernel has of them.
import { readFile } from 'node:fs/promises';
import { type HoloNorthbound, HoloError } from './northbound.ts';
import { type Protocol, areasOf, instancesOf, interfaceOf, statePath, stateIn, text } from './protocols.ts';
import { type Tree, entryOf } from './tree.ts';

/** An interface as the kernel has it. */
export interface KernelLink {
  readonly mtu: number;
}

export interface HoloFacts {
  /** Why Holo could not be asked; then `version` and `config` are absent. */
  readonly error?: string;
  readonly version?: string;
  /** With all defaults. */
  readonly config?: Tree;
  /** By interface: `down`, or another word of the protocol; absent where Holo has no such interface. */
  readonly states: ReadonlyMap<string, string>;
  /** By interface; null: it does not exist in the kernel. */
  readonly links: ReadonlyMap<string, KernelLink | null>;
}

/** What is asked about. */
export interface Asked {
  readonly protocol: Protocol;
  readonly interface: string;
  /** Of OSPF, as a dotted quad. */
  readonly area?: string;
}

/** Never rejects: what cannot be asked is a fact too. */
export async function gatherHoloFacts(
  northbound: Pick<HoloNorthbound, 'version' | 'config' | 'interfaceState'>,
  asked: readonly Asked[],
  linkOf: (name: string) => Promise<KernelLink | null> = kernelLink,
): Promise<HoloFacts> {
  const links = new Map<string, KernelLink | null>();
  for (const { interface: name } of asked) links.set(name, await linkOf(name));
  try {
    const version = await northbound.version();
    const config = await northbound.config(true);
    const states = new Map<string, string>();
    for (const one of asked) {
      const state = await stateOf(northbound, config, one);
      if (state !== undefined) states.set(one.interface, state);
    }
    return { version, config, states, links };
  } catch (error) {
    if (!(error instanceof HoloError)) throw error;
    return { error: error.message, states: new Map(), links };
  }
}

async function stateOf(
  northbound: Pick<HoloNorthbound, 'interfaceState'>,
  config: Tree,
  { protocol, interface: name, area }: Asked,
): Promise<string | undefined> {
  for (const instance of instancesOf(config, protocol)) {
    const within = area === undefined ? instance.config : entryOf(areasOf(instance), 'area-id', area);
    if (!within || !interfaceOf(within, name)) continue;
    const state = stateIn(await northbound.interfaceState(statePath(instance, name, area)), protocol);
    return text(state, protocol === 'isis' ? 'holo-isis:state' : 'state');
  }
  return undefined;
}

/** sysfs shows the network namespace in which it was mounted, which is that of the process in containers too. */
async function kernelLink(name: string): Promise<KernelLink | null> {
  const mtu = await readFile(`/sys/class/net/${name}/mtu`, 'utf8').catch(() => undefined);
  return mtu === undefined ? null : { mtu: Number(mtu) };
}
