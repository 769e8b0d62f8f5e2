// What of End.MT groups is in the kernel, for `cnpctl doctor`; also beside a running cnpd, which shows what it means to
// be there.
import { checkGroups, groupsUnknown } from '../diagnosis/groups.ts';
import type { Intent } from '../intent/intent.ts';
import { KernelError } from '../kernel/errors.ts';
import type { Link } from '../kernel/netlink/link.ts';
import { TreeDevices } from '../kernel/netlink/tree-device.ts';
import { TREE_DEVICE } from '../model/tree-device.ts';
import { MAIN_TABLE, TREE_TABLE, TreeRoutes, isBlackhole } from '../kernel/netlink/tree-routes.ts';
import { formatAddress } from '../model/address.ts';
import type { Check } from '../model/problem.ts';

/** @param roots Proxy Addresses of the groups of which the running cnpd is the root; undefined: none runs */
export async function examineGroups(
  intent: Intent,
  roots: readonly string[] | undefined,
  readLinks: () => Promise<readonly Pick<Link, 'name' | 'mtu'>[]>,
): Promise<Check[]> {
  if (!intent.srv6?.endMt && !intent.srv6?.replication) return [];
  try {
    const mtus = new Map((await readLinks()).map(({ name, mtu }) => [name, mtu]));
    return checkGroups(intent, { mtus, roots, ...readTrees() });
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return [groupsUnknown(error)];
  }
}

/** @throws KernelError */
function readTrees() {
  const routes = TreeRoutes.open();
  try {
    const own = routes.own();
    const textOf = (isOne: (route: (typeof own)[number]) => boolean): Set<string> =>
      new Set(own.filter(isOne).map(({ destination }) => formatAddress(destination)));
    const entries = textOf(({ table, ifindex }) => table === MAIN_TABLE && ifindex !== undefined);
    const inTree = textOf(({ table, srh }) => table === TREE_TABLE && srh !== undefined);
    return {
      hasDevice: hasDevice(),
      hasRule: routes.hasRule(TREE_DEVICE),
      sids: textOf((route) => isBlackhole(route)),
      headEnds: new Set([...entries].filter((proxy) => inTree.has(proxy))),
    };
  } finally {
    routes.close();
  }
}

function hasDevice(): boolean {
  const devices = TreeDevices.open();
  try {
    return devices.find() !== undefined;
  } finally {
    devices.close();
  }
}
