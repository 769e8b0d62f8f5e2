// The proxy done in user space, to compare with: `userspace-proxy NETNS IFINDEX` takes notices from the ring buffer of
// bpf/bench/handoff.bpf.c, checks them as the proxy's program does, and sends CNPs by a raw socket. Told by its parent
// when to take notices ('attach') and when not ('detach').
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { openRingBuffer } from '../../kernel/bpf/ring-buffer.ts';
import type { TcxLink } from '../../kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../kernel/bpf/tcx.ts';
import { Netns } from '../../kernel/netns.ts';
import { Poller } from '../../kernel/poller.ts';
import { openRawSocket } from '../../kernel/raw-socket.ts';
import type { IpAddress } from '../../model/address.ts';
import { type Prefix, prefixContains } from '../../model/prefix.ts';
import { decodeUdp, udpChecksum } from '../../packet/ip/udp.ts';
import { walkHeaders } from '../../packet/ip/walk.ts';
import { decodeNotice, invokingBth } from '../../packet/notice/pnc.ts';
import { buildCnp } from '../../packet/roce/cnp.ts';
import { bpfObject } from './bench.ts';
import { ACCEPTED_SOURCES, FLOWS, SENDER_PREFIX, firstQpn, senderQpnOf } from './packets/notice-flows.ts';
import { RECEIVER, SENDER } from './packets/packets.ts';

const RECORD_PACKET = 4;
const UDP_HEADER = 8;

const within = (prefixes: readonly Prefix[], address: IpAddress): boolean =>
  prefixes.some((p) => prefixContains(p, address));
const flowKey = (sender: IpAddress, receiver: IpAddress, receiverQpn: number): string =>
  `${sender.value} ${receiver.value} ${receiverQpn}`;

/** The CNP for a notice, or undefined when it must be refused. */
function answer(packet: Uint8Array, queuePairs: ReadonlyMap<string, number>): Uint8Array | undefined {
  const layer = walkHeaders(packet).layers[0];
  if (!layer || !within(ACCEPTED_SOURCES, layer.source)) return undefined;
  const udp = decodeUdp(packet, layer.transportOffset, layer.end);
  if (
    !udp.ok ||
    udpChecksum(packet, layer.transportOffset, udp.value.length, layer.source, layer.destination) !== 'valid'
  )
    return undefined;
  const notice = decodeNotice(
    packet.subarray(layer.transportOffset + UDP_HEADER, layer.transportOffset + udp.value.length),
  );
  const bth = notice.ok ? invokingBth(notice.value) : undefined;
  if (!notice.ok || !bth?.ok) return undefined;
  const { source, destination, sourcePort } = notice.value.tuple;
  const destQpn = queuePairs.get(flowKey(source, destination, bth.value.destQpn));
  if (destQpn === undefined || !within([SENDER_PREFIX], source)) return undefined;
  return buildCnp({ source: destination, destination: source, destQpn, sourcePort, pkey: bth.value.pkey });
}

function main(netnsPath: string, ifindex: number): void {
  const netns = Netns.open(netnsPath);
  const poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  const object = openBpfObject(bpfObject('bench_handoff'));
  const socket = openRawSocket({ family: 6, netns });
  const queuePairs = new Map(
    Array.from({ length: FLOWS }, (_, i) => [flowKey(SENDER, RECEIVER, firstQpn + i), senderQpnOf(firstQpn + i)]),
  );
  openRingBuffer(object.map('handed'), {
    poller,
    onRecord: (data, offset) => {
      const packet = new Uint8Array(
        data.buffer,
        data.byteOffset + offset + RECORD_PACKET,
        data.getUint32(offset, true),
      );
      const cnp = answer(packet, queuePairs);
      if (cnp) socket.send(cnp);
    },
  });
  let link: TcxLink | undefined;
  process.on('message', (order) => {
    link?.detach();
    link =
      order === 'attach'
        ? attachTcx({ program: object.program('handoff'), ifindex, direction: 'ingress', netns })
        : undefined;
    process.send!(order);
  });
  process.on('disconnect', () => process.exit(0));
  process.send!('ready');
}

main(process.argv[2]!, Number(process.argv[3]));
