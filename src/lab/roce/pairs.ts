// The roles `source` and `receive` of the endpoint: Queue Pairs that were agreed upon elsewhere.
import { type IpAddress, parseAddress } from '../../model/address.ts';
import { parseDuration, parseRate, parseSize } from '../units.ts';
import { type Options, type Parse, count, dcqcn, drawQpn, fail, list, read, unsigned } from './command-line.ts';
import { Receiver } from './receiver.ts';
import type { Role, RoleParts } from './role.ts';
import { Source } from './source.ts';

/** 1.28 ms (RNR_TIMER_MS). */
const NOT_READY_TIMER = 14;

interface Peer {
  readonly peer: IpAddress;
  readonly peerQpn: number;
}

/** `ADDRESS/QPN`. */
const peerOf: Parse<Peer> = (text) => {
  const [address = '', qpn = '', ...rest] = text.split('/');
  const peer = parseAddress(address);
  const peerQpn = unsigned(qpn);
  return peer && peerQpn !== undefined && peerQpn < 1 << 24 && rest.length === 0 ? { peer, peerQpn } : undefined;
};

/** `ADDRESS/QPN/PEERQPN`. */
const receiverOf: Parse<{ readonly address: IpAddress; readonly qpn: number; readonly peerQpn: number }> = (text) => {
  const end = text.lastIndexOf('/');
  const [own, peerQpn] = [peerOf(text.slice(0, Math.max(0, end))), unsigned(text.slice(end + 1))];
  return own && peerQpn !== undefined && peerQpn < 1 << 24
    ? { address: own.peer, qpn: own.peerQpn, peerQpn }
    : undefined;
};

const virtualAddress: Parse<bigint> = (text) => (unsigned(text) === undefined ? undefined : BigInt(text));

/** The memory of WRITEs; undefined: SENDs. */
const memoryOf = (options: Options): { readonly virtualAddress: bigint; readonly rkey: number } | undefined =>
  options['r-key'] === undefined
    ? undefined
    : { rkey: read(options, 'r-key', unsigned), virtualAddress: read(options, 'virtual-address', virtualAddress, 0n) };

export function source(options: Options, address: IpAddress, { now, send, report, end }: RoleParts): Role {
  const rate = read(options, 'rate', parseRate, 100e6);
  const peers = read(options, 'to', list(peerOf));
  if (peers.some(({ peer }) => peer.family !== address.family)) fail('--to and --address must be of one family');
  const firstQpn = read(options, 'qpn', unsigned, drawQpn());
  const role = new Source(
    {
      address,
      flows: peers.map((peer, i) => ({ ...peer, qpn: firstQpn + i })),
      transfer: {
        bytes: read(options, 'bytes', parseSize),
        payloadSize: read(options, 'payload', count, 1024),
        packetsPerMessage: read(options, 'message', count, 16),
        write: memoryOf(options),
      },
      startingPsn: read(options, 'start-psn', unsigned, 0),
      window: read(options, 'window', count, 64),
      timeoutMs: read(options, 'timeout', parseDuration, 100),
      retries: read(options, 'retries', count, 7),
      rate,
      dcqcn: dcqcn(options, rate),
      reportIntervalMs: read(options, 'report', parseDuration, 100),
    },
    { now, send, report, onEnd: end },
  );
  setImmediate(() => role.start());
  return role;
}

export function receive(options: Options, address: IpAddress, { now, send, report, end }: RoleParts): Role {
  const every = options['not-ready-every'] === undefined ? undefined : read(options, 'not-ready-every', count);
  const bytes = options.bytes === undefined ? undefined : read(options, 'bytes', parseSize);
  const memory = memoryOf(options);
  if (memory && bytes === undefined) fail('--r-key needs --bytes, the length of the memory');
  const from = read(options, 'from', peerOf);
  if (from.peer.family !== address.family) fail('--from and --address must be of one family');
  const also = options.also === undefined ? [] : read(options, 'also', list(receiverOf));
  if (also.some((one) => one.address.family !== address.family)) fail('--also and --address must be of one family');
  const receivers = [{ address, qpn: read(options, 'qpn', unsigned), peerQpn: from.peerQpn }, ...also].map(
    (receiver) =>
      new Receiver(
        {
          ...receiver,
          peer: from.peer,
          startingPsn: options['start-psn'] === 'any' ? undefined : read(options, 'start-psn', unsigned, 0),
          memory: memory && { ...memory, length: bytes! },
          notReady: every === undefined ? undefined : (n) => (n % every === every - 1 ? NOT_READY_TIMER : undefined),
          cnpIntervalMs:
            options['cnp-interval'] === 'off' ? undefined : read(options, 'cnp-interval', parseDuration, 0.05),
          expectedBytes: bytes,
        },
        { now, send, report },
      ),
  );
  const stop = (): void => {
    for (const receiver of receivers) receiver.end();
    end(true);
  };
  const byAddress = new Map(receivers.map((receiver) => [receiver.address.value, receiver]));
  return {
    also: also.map((one) => one.address),
    // Whatever is for this host and for none of the others is the first one's, to be refused.
    onPacket: (packet) => (byAddress.get(packet.destination.value) ?? receivers[0]!).onPacket(packet),
    stop,
  };
}
