// A guest with a real RoCE stack (Linux SoftRoCE) in the place of a lab's host: its Ethernet port is a TAP that a
// bridge joins with the host's port.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '../../src/lab/lab.ts';
import { Guest, emptyFolder } from '../guests/guest.ts';
import { type GuestImage, prepareGuestImage } from '../guests/image.ts';

/** rdma_rxe computes its ICRC with crc32, which must be there before it. */
const MODULES = ['virtio_net', 'crc32_generic', 'rdma_rxe', 'rdma_ucm'] as const;

export const prepareRoceImage = (folder: string): GuestImage =>
  prepareGuestImage(folder, {
    modules: MODULES,
    // Overlays of a lab's node.
    hidden: ['/etc', '/var', '/opt', '/usr/local', '/root'],
    packages: {
      'rdmacm-utils': '/usr/bin/rping',
      perftest: '/usr/bin/ib_send_bw',
      'ibverbs-providers': '/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so',
      'ibverbs-utils': '/usr/bin/ibv_devinfo',
      'python3-pyverbs': '/usr/lib/python3/dist-packages/pyverbs/__init__.py',
    },
    begin: `ip link set eth0 mtu "$(cat /mnt/mtu)" up
bash /mnt/addresses
rdma link add rxe0 type rxe netdev eth0`,
  });

interface GuestOptions {
  readonly lab: Lab;
  /** The host of the lab whose port the guest takes over. Its own addresses are removed. */
  readonly node: string;
  /** E.g. `2001:db8:1::2/64`; the first one is that of GID index 1. */
  readonly addresses: readonly string[];
  readonly gateway: string;
  readonly mtu?: number;
  readonly image: GuestImage;
  /** For control files. */
  readonly folder: string;
}

/** Starts a guest and waits until its RoCE device is there. @throws Error with its console when it does not come */
export async function startRoceGuest(opts: GuestOptions): Promise<Guest> {
  const { lab, node, addresses, gateway, mtu = 1500, image, folder } = opts;
  const control = emptyFolder(join(folder, `${lab.name}-${node}`));
  writeFileSync(join(control, 'mtu'), `${mtu}`);
  const commands = [...addresses.map((one) => `ip address add ${one} dev eth0`), `ip route add default via ${gateway}`];
  writeFileSync(join(control, 'addresses'), commands.join('\n'));
  await bridge(lab, node);
  const number = Number.parseInt(Buffer.from(node).toString('hex').slice(-4), 16);
  const mac = `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`;
  return Guest.boot({
    ...{ name: node, image, control, devices: port(mac) },
    spawn: (command) => lab.spawn(node, [...command], { stdio: ['ignore', 'ignore', 'pipe'] }),
  });
}

/** Joins the host's port with a TAP; the host keeps no address, so that it answers nothing itself. */
async function bridge(lab: Lab, node: string): Promise<void> {
  const script = `
ip address flush dev eth1; ip link set eth1 up
ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
sysctl -qw net.ipv6.conf.br0.disable_ipv6=1 net.ipv6.conf.eth1.disable_ipv6=1
ip tuntap add tap0 mode tap
mtu=$(cat /sys/class/net/eth1/mtu)
for port in eth1 tap0; do ip link set $port mtu $mtu; ip link set $port master br0 up; done
ip link set br0 up
ethtool -K eth1 tx off >/dev/null`;
  await lab.mustExec(node, ['bash', '-euc', script]);
}

/** Without offloads: what reaches the lab is a whole packet with its checksums. */
function port(mac: string): string[] {
  const offloads = ['csum', 'gso', 'guest_csum', 'guest_tso4', 'guest_tso6', 'host_tso4', 'host_tso6']
    .map((name) => `${name}=off`)
    .join(',');
  return [
    ...['-netdev', 'tap,id=n,ifname=tap0,script=no,downscript=no,vhost=off'],
    ...['-device', `virtio-net-pci,netdev=n,mac=${mac},${offloads},host_mtu=9000,romfile=`],
  ];
}
