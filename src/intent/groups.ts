// The section `groups`: End.MT groups with members behind this router, or whose source is (RMC §5.1).
import type * as z from 'zod';
import type { IpAddress } from '../model/address.ts';
import { type GroupMember, HIGHEST_QPN, LOWEST_QPN, type WriteDelta } from '../model/group.ts';
import { hostAddress } from './address-values.ts';
import * as groupBranches from './group-branches.ts';
import type { BranchesIntent } from './group-branches.ts';
import type { GroupSidIntent } from './group-sids.ts';
import { defaulted, filled, list, section, value } from './schema-parts.ts';
import { groupId, integer, onOff, orWord, rate, signed64, time } from './values.ts';

export interface GroupSourceIntent {
  readonly address: IpAddress;
  /** Absent: declared at run time. */
  readonly qpn?: number;
  readonly startPsn?: number;
}

export interface GroupIntent {
  readonly name: string;
  readonly proxyAddress: IpAddress;
  readonly designatedQpn: number;
  /** Absent: another router is the ingress. */
  readonly source?: GroupSourceIntent;
  /** As this router advertises them, its source among them. */
  readonly members: readonly GroupMember[];
  /**
   * Receivers among them that name no edge: theirs is the router nearest to them (plan/nearest-edges.ts). Until that is
   * decided, their `node` is this router's End.MT SID, or unspecified.
   */
  readonly nearest?: readonly IpAddress[];
  /** T of RMC §5.3.3, milliseconds. */
  readonly cnpWindowMs: number;
  /** The most copies that this router makes. */
  readonly copiesPerSecond: number;
  /** Copies have the Proxy Address as source, not the address of S1 (decision C6). */
  readonly rewriteSource: boolean;
  /** Absent: the tree follows the shortest paths. */
  readonly branches?: readonly BranchesIntent[];
}

const queuePair = integer(LOWEST_QPN, HIGHEST_QPN);
const psn = integer(0, 2 ** 24 - 1);
const LEARNED = 'learned';

const write = section(
  {
    'va-delta': defaulted(signed64, '0', 'added to the virtual address of WRITEs, modulo 2^64'),
    'r-key': value(integer(0, 0xffff_ffff), "the R_Key of this receiver's memory"),
  },
  'what a WRITE needs to reach the memory of this receiver; default: WRITEs are not changed',
);

export const receiver = section(
  {
    address: value(hostAddress(6), 'the receiver'),
    qpn: value(queuePair, 'its Queue Pair, connected to the Proxy Address and the Designated Queue Pair'),
    edge: value(
      hostAddress(6),
      'End.MT SID of the router that makes its copies; default: that of the router nearest to the receiver',
    ).optional(),
    'psn-delta': defaulted(psn, '0', "its first PSN minus the source's, modulo 2^24, if they do not start equal"),
    write: write.optional(),
  },
  'a receiver of the group',
);

export const source = section(
  {
    address: value(hostAddress(6), 'the source, behind this router'),
    qpn: defaulted(
      orWord(LEARNED, queuePair),
      LEARNED,
      'its Queue Pair, to which this router sends the aggregated answers; learned: from `cnpctl group join --source` ' +
        'at run time, since no packet of the source names it',
    ),
    'start-psn': defaulted(
      orWord(LEARNED, psn),
      LEARNED,
      'the PSN of its first packet, for people: it is shown, and nothing depends on it',
    ),
  },
  'the source of the group; this router is then the root of the tree, and needs srv6.replication',
);

export const group = section(
  {
    name: value(groupId, 'a name for people; not advertised'),
    'proxy-address': value(
      hostAddress(6),
      'to which the source sends, and from which receivers receive; an address of no host (RMC §5.1)',
    ),
    'designated-qpn': value(queuePair, 'the remote Queue Pair of every member, to which answers go (RMC §5.1)'),
    source: source.optional(),
    receivers: list(receiver, 'receivers that this router declares').optional(),
    'cnp-window': defaulted(
      time('1us', '1s'),
      '50us',
      'of the CNPs of all branches in this time one goes to the source (RMC §5.3.3)',
    ),
    'copies-per-second': defaulted(
      rate('1/s', '1000M/s'),
      '10M/s',
      'the most copies of the packets of this group that this router makes',
    ),
    'rewrite-source': defaulted(
      onOff,
      'on',
      'copies have the Proxy Address as source, which receivers of reliable connections check; off: that of the source',
    ),
    branches: groupBranches.schema.optional(),
  },
  'an End.MT group',
);

export const schema = list(group, 'End.MT groups with members behind this router (RMC §5.1)');

export type Declared = z.output<typeof group>;

export interface Sids {
  readonly endMt?: GroupSidIntent;
  readonly replication?: GroupSidIntent;
}

/** @param sids of this router; the rules have checked that a source has its replication SID */
export function build(declared: Declared, sids: Sids): GroupIntent {
  const { name, 'proxy-address': proxyAddress, 'designated-qpn': designatedQpn } = declared;
  const from = declared.source && filled(source, declared.source);
  const members: GroupMember[] = [];
  if (from)
    members.push({
      group: proxyAddress,
      role: 'source',
      address: from.address,
      qpn: designatedQpn,
      node: sids.replication!.sid,
      psnDelta: 0,
    });
  for (const one of declared.receivers ?? []) members.push(receiverOf(one, proxyAddress, sids));
  const nearest = (declared.receivers ?? []).filter(({ edge }) => !edge).map(({ address }) => address);
  const all = filled(group, declared);
  return {
    ...{ name, proxyAddress, designatedQpn, members },
    ...(nearest.length > 0 && { nearest }),
    ...(from && { source: sourceOf(from) }),
    cnpWindowMs: all['cnp-window'],
    copiesPerSecond: all['copies-per-second'],
    rewriteSource: all['rewrite-source'],
    ...(all.branches && { branches: all.branches }),
  };
}

const sourceOf = (from: {
  address: IpAddress;
  qpn: number | string;
  'start-psn': number | string;
}): GroupSourceIntent => ({
  address: from.address,
  ...(typeof from.qpn === 'number' && { qpn: from.qpn }),
  ...(typeof from['start-psn'] === 'number' && { startPsn: from['start-psn'] }),
});

const UNSPECIFIED: IpAddress = { family: 6, value: 0n };

function receiverOf(declared: z.output<typeof receiver>, proxyAddress: IpAddress, { endMt }: Sids): GroupMember {
  const { address, qpn, edge, 'psn-delta': psnDelta, write: changes } = filled(receiver, declared);
  return {
    group: proxyAddress,
    role: 'receiver',
    address,
    qpn,
    node: edge ?? endMt?.sid ?? UNSPECIFIED,
    psnDelta,
    ...(changes && { write: writeOf(changes) }),
  };
}

function writeOf(declared: z.output<typeof write>): WriteDelta {
  const { 'va-delta': vaDelta, 'r-key': rKey } = filled(write, declared);
  return { vaDelta: BigInt.asUintN(64, vaDelta), rKey };
}
