// Names of the veth pair through which packets of groups enter their trees at a root (kernel/netlink/tree-device.ts).

/** Outer end: `multicast_root` runs at its egress. */
export const TREE_DEVICE = 'cnpd-mc';
/** Inner end: `multicast_entry` runs at its egress. */
export const TREE_DEVICE_PEER = 'cnpd-mc-peer';
