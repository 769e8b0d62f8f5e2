// One run of the scene `multicast`: endpoints in the hosts, counters of the interfaces before and after.
import type { Lab } from '../../lab/lab.ts';
import { type Endpoint, startEndpoint } from '../endpoints.ts';
import type { LinkCount, LinkCounts, MulticastObservations } from './evaluate.ts';
import { GROUP, type MulticastRun, RECEIVERS, SOURCE, TRANSFER, TREE } from './scene.ts';

/** Far longer than a round trip, because it must not end by itself on a busy machine. */
const TIMEOUT = '500ms';
const RETRIES = '40';

const BYTES = ['--bytes', `${TRANSFER.bytes}b`];

/** What every interface of the tree has sent. */
export async function linkCounts(lab: Lab): Promise<LinkCounts> {
  const ports = TREE.flatMap(({ from, to }) => [from, to]);
  const counts = await Promise.all(
    ports.map(async ({ node, interface: name }): Promise<[string, LinkCount]> => {
      const files = ['packets', 'bytes'].map((what) => `/sys/class/net/${name}/statistics/tx_${what}`);
      const [packets, bytes] = (await lab.mustExec(node, ['cat', ...files])).trim().split('\n').map(Number);
      return [`${node} ${name}`, { packets: packets!, bytes: bytes! }];
    }),
  );
  return new Map(counts);
}

/** A receiver's Queue Pair is connected to the source's for it, or to the group. */
function startReceivers(lab: Lab, run: MulticastRun): ReadonlyMap<string, Endpoint> {
  return new Map(
    RECEIVERS.map((host, i) => {
      const from =
        run.name === 'unicast' ? `${SOURCE.address}/${SOURCE.qpn + i}` : `${GROUP.proxyAddress}/${GROUP.designatedQpn}`;
      const loss = run.loss?.receiver === host.node ? ['--lose', String(run.loss.oneIn)] : [];
      const argv = ['--qpn', String(host.qpn), '--from', from, ...BYTES, ...loss];
      return [host.node, startEndpoint(lab, host, 'receive', argv)];
    }),
  );
}

function startSource(lab: Lab, run: MulticastRun): Endpoint {
  const peers =
    run.name === 'unicast'
      ? RECEIVERS.map(({ address, qpn }) => `${address}/${qpn}`)
      : [`${GROUP.proxyAddress}/${GROUP.designatedQpn}`];
  return startEndpoint(lab, SOURCE, 'source', [
    ...['--qpn', String(SOURCE.qpn), '--to', peers.join(','), ...BYTES],
    ...['--payload', String(TRANSFER.payloadSize), '--message', String(TRANSFER.packetsPerMessage)],
    ...['--timeout', TIMEOUT, '--retries', RETRIES],
  ]);
}

export async function makeMulticastRun(
  lab: Lab,
  run: MulticastRun,
  signal: AbortSignal,
): Promise<MulticastObservations> {
  const receivers = startReceivers(lab, run);
  let source: Endpoint | undefined;
  const abort = (): void => void source?.stop();
  try {
    await Promise.all([...receivers.values()].map((receiver) => receiver.waitFor('ready')));
    signal.throwIfAborted();
    const before = await linkCounts(lab);
    source = startSource(lab, run);
    signal.addEventListener('abort', abort);
    await source.waitFor('summary');
    await source.ended;
    signal.throwIfAborted();
    const after = await linkCounts(lab);
    await Promise.all([...receivers.values()].map((receiver) => receiver.stop()));
    const heard = new Map([...receivers].map(([name, { events }]) => [name, events]));
    return { source: source.events, receivers: heard, before, after };
  } finally {
    signal.removeEventListener('abort', abort);
    await source?.stop();
    await Promise.all([...receivers.values()].map((receiver) => receiver.stop()));
  }
}
