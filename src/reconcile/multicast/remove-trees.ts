// Removes what cnpd has for groups outside of its maps: for a router whose configuration no longer has groups, and for
// uninstall.
import { TreeDevices } from '../../kernel/netlink/tree-device.ts';
import { TREE_DEVICE } from '../../model/tree-device.ts';
import { MAIN_TABLE, TreeRoutes } from '../../kernel/netlink/tree-routes.ts';
import { formatAddress } from '../../model/address.ts';

/**
 * Removes routes, the rule and the device. Things of others with such names stay.
 * @returns what was removed, in words
 * @throws KernelError
 */
export function removeTrees(): string[] {
  const routes = TreeRoutes.open();
  try {
    const removed: string[] = [];
    // Those of the main table first: they lead to the others.
    const own = routes.own().sort((a, b) => Number(b.table === MAIN_TABLE) - Number(a.table === MAIN_TABLE));
    const gone = new Set(own.filter((route) => routes.remove(route)).map((r) => formatAddress(r.destination)));
    if (gone.size > 0) removed.push(`the routes of ${[...gone].join(', ')}`);
    if (routes.hasRule(TREE_DEVICE) && routes.removeRule(TREE_DEVICE)) removed.push(`the rule for ${TREE_DEVICE}`);
    if (removeDevice()) removed.push(`the interface ${TREE_DEVICE}`);
    return removed;
  } finally {
    routes.close();
  }
}

function removeDevice(): boolean {
  const devices = TreeDevices.open();
  try {
    return devices.remove();
  } finally {
    devices.close();
  }
}
