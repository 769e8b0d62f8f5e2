// End.MT groups in `cnpctl doctor`: what packets become, whether this router's SIDs and trees are in the kernel, and
// what hosts must allow. What planning reports (src/plan/group-problems.ts) is not repeated here.
import { overhead, roceMtuWithin, rocePacket } from '../groups/sizes.ts';
import type { Intent } from '../intent/intent.ts';
import type { KernelError } from '../kernel/errors.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { Check } from '../model/problem.ts';

/** What of groups is in the kernel. */
export interface GroupsInKernel {
  /** Of ports by name, octets. Ports without one are missing. */
  readonly mtus: ReadonlyMap<string, number>;
  /** Where the running cnpd is the root: Proxy Addresses as text. Undefined: no cnpd runs, nothing must be there. */
  readonly roots: readonly string[] | undefined;
  readonly hasDevice: boolean;
  readonly hasRule: boolean;
  /** SIDs with cnpd's route, as text. */
  readonly sids: ReadonlySet<string>;
  /** Proxy Addresses that lead into a tree, as text. */
  readonly headEnds: ReadonlySet<string>;
}

/** None at a router without SIDs for groups. */
export function checkGroups({ srv6, groups = [] }: Intent, kernel: GroupsInKernel): Check[] {
  const own = [srv6?.endMt?.sid, srv6?.replication?.sid].filter((sid) => sid !== undefined);
  if (!srv6 || own.length === 0) return [];
  const receivers = groups.flatMap(({ members }) => members.filter(({ role }) => role === 'receiver'));
  const hasReceivers = receivers.some(({ node }) => node.value === srv6.endMt?.sid.value);
  return [
    ...(srv6.replication ? sizes(srv6.corePorts, srv6.multicast, kernel) : []),
    ...(kernel.roots ? [sidsInKernel(own, kernel), ...treesInKernel(kernel.roots, kernel)] : []),
    ...(hasReceivers ? [HOSTS] : []),
  ];
}

type Sized = Pick<NonNullable<Intent['srv6']>['multicast'], 'tlvLimit'>;

/** Whether any connection fits. A group whose connections must be smaller than hosts allow is a problem of the plan. */
function sizes(ports: readonly string[], { tlvLimit }: Sized, { mtus }: GroupsInKernel): Check[] {
  const known = ports.flatMap((name) => (mtus.has(name) ? [{ name, mtu: mtus.get(name)! }] : []));
  const smallest = known.reduce<(typeof known)[0] | undefined>((a, b) => (a && a.mtu <= b.mtu ? a : b), undefined);
  // That core ports are missing is a problem of the plan.
  if (!smallest) return [];
  const { name, mtu } = smallest;
  const added = overhead([]);
  const most = roceMtuWithin(mtu - added);
  const id = 'groups.sizes';
  const passes = `${name} passes ${mtu} octets, and a tree adds ${added}`;
  if (most === 0)
    return [
      {
        id,
        claim: 'packets of groups pass the core ports',
        state: 'missing',
        problem: `${passes}: not even connections with an MTU of 256 fit`,
        remedy: `ip link set ${name} mtu ${rocePacket(1024) + added}, or more, and so on every link of the core`,
      },
    ];
  const [before, after] = [rocePacket(most), rocePacket(most) + added];
  const room = Math.min(tlvLimit, mtu - after);
  return [
    {
      id,
      claim:
        `${passes}: connections with an MTU of up to ${most} fit (${before} octets become ${after}, ` +
        `and TLVs with receivers have room for ${room})`,
      state: 'ok',
    },
  ];
}

function sidsInKernel(own: readonly IpAddress[], { sids }: GroupsInKernel): Check {
  const id = 'groups.sids';
  const names = own.map(formatAddress);
  const missing = names.filter((name) => !sids.has(name));
  if (missing.length === 0) return { id, claim: `the SIDs for groups are installed: ${names.join(', ')}`, state: 'ok' };
  return {
    id,
    claim: 'the SIDs for groups are installed',
    state: 'missing',
    problem: `${missing.join(', ')}: not installed, so not advertised, and no packet of a group is taken there`,
    remedy:
      `fix the problems above; \`ip -6 route show ${missing[0]} table all\` shows whether another program has ` +
      'a route to it',
  };
}

function treesInKernel(roots: readonly string[], { hasDevice, hasRule, headEnds }: GroupsInKernel): Check[] {
  if (roots.length === 0) return [];
  const id = 'groups.trees';
  const claim = `what the sources send enters the ${roots.length === 1 ? 'tree of a group' : `trees of ${roots.length} groups`}`;
  const without = roots.filter((root) => !headEnds.has(root));
  const more = without.length > 1 ? ` and ${without.length - 1} more` : '';
  const problem = !hasDevice
    ? 'the pair of interfaces cnpd-mc and cnpd-mc-peer is missing or down'
    : !hasRule
      ? 'there is no rule for what arrives from cnpd-mc'
      : without.length > 0
        ? `there is no route from the Proxy Address ${without[0]}${more} into its tree`
        : undefined;
  if (problem === undefined) return [{ id, claim, state: 'ok' }];
  return [
    {
      id,
      claim: 'what the sources send enters the trees',
      state: 'missing',
      problem: `${problem}: sources reach no receiver`,
      remedy: 'fix the problems above; if there are none, kill cnpd and start it: `systemctl kill -s KILL cnpd`',
    },
  ];
}

const HOSTS: Check = {
  id: 'groups.hosts',
  claim: 'receivers accept packets from the Proxy Address',
  state: 'warning',
  problem:
    'cnpd cannot see whether receivers drop packets from a Proxy Address, which no host has: rp_filter is for IPv4 ' +
    'alone, but firewalld (IPv6_rpfilter) and rules of nftables (fib saddr) do the same for IPv6',
  remedy:
    'on each receiver, `ip -6 route get` with the Proxy Address has to name the port towards its edge; ' +
    '`nft list ruleset | grep fib` shows such rules',
};

/** The kernel does not report it. */
export const groupsUnknown = ({ message }: KernelError): Check => ({
  id: 'groups.kernel',
  claim: 'routes of groups can be examined',
  state: 'unknown',
  problem: message,
  remedy: 'run this as root',
});
