// Lets tshark decode packets: a capture file in a temporary directory, one process a batch.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type LinkType = 'ethernet' | 'raw-ip';

const LINK_TYPE: Readonly<Record<LinkType, number>> = { ethernet: 1, 'raw-ip': 101 };

function capture(linkType: LinkType, packets: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b2c3d4, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(0xffff, 16);
  head.writeUInt32LE(LINK_TYPE[linkType], 20);
  const records = packets.flatMap((packet, i) => {
    const record = Buffer.alloc(16);
    record.writeUInt32LE(i, 0);
    record.writeUInt32LE(packet.length, 8);
    record.writeUInt32LE(packet.length, 12);
    return [record, Buffer.from(packet)];
  });
  return Buffer.concat([head, ...records]);
}

/** What tshark finds wrong with a packet; empty strings when nothing. */
const COMPLAINTS = ['_ws.malformed', '_ws.short', '_ws.expert.severity', '_ws.expert.message'];

/** RoCEv2 has no UDP checksum on IPv6; all others are verified. */
const PREFERENCES = [
  'ip.check_checksum:TRUE',
  'udp.check_checksum:TRUE',
  'udp.ignore_ipv6_zero_checksum:TRUE',
  'ip.defragment:FALSE',
];

/** Runs tshark over the packets. @returns what it prints */
function tshark(linkType: LinkType, packets: readonly Uint8Array[], format: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-codec-'));
  try {
    const file = join(directory, 'packets.pcap');
    writeFileSync(file, capture(linkType, packets));
    const options = PREFERENCES.flatMap((preference) => ['-o', preference]);
    // RPC over RDMA would be guessed in every payload.
    const args = ['-n', '--disable-protocol', 'rpcordma', '-r', file, ...options, ...format];
    const run = spawnSync('tshark', args, { encoding: 'utf8', maxBuffer: 64 << 20, timeout: 50_000 });
    if (run.status !== 0) throw new Error(`tshark: ${run.error?.message ?? run.stderr}`);
    return run.stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * One record a packet: each field's values, in order of appearance. `complaints` holds what tshark thinks is wrong.
 * `decodeAs`: rules of -d.
 */
export function dissect<F extends string>(
  linkType: LinkType,
  packets: readonly Uint8Array[],
  fields: readonly F[],
  decodeAs: readonly string[] = [],
): ({ readonly [K in F]: string[] } & { readonly complaints: string[] })[] {
  const columns = [...fields, ...COMPLAINTS].flatMap((field) => ['-e', field]);
  const rules = decodeAs.flatMap((rule) => ['-d', rule]);
  const lines = tshark(linkType, packets, [
    ...rules,
    '-T',
    'fields',
    '-E',
    'separator=/t',
    '-E',
    'aggregator=|',
    ...columns,
  ])
    .split('\n')
    .slice(0, packets.length);
  if (lines.length !== packets.length) throw new Error(`tshark showed ${lines.length} of ${packets.length} packets`);
  return lines.map((line) => {
    const values = line.split('\t').map((value) => (value === '' ? [] : value.split('|')));
    const record = Object.fromEntries(fields.map((name, i) => [name, values[i] ?? []]));
    return { ...record, complaints: values.slice(fields.length).flat() } as { [K in F]: string[] } & {
      complaints: string[];
    };
  });
}

/**
 * The lines of one protocol that tshark prints of all packets: verdicts that it keeps out of fields, such as those on
 * OSPF's checksum.
 */
export const print = (linkType: LinkType, packets: readonly Uint8Array[], protocol: string): string[] =>
  tshark(linkType, packets, ['-O', protocol])
    .split('\n')
    .map((line) => line.trim());
