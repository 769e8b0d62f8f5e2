// Runs in a guest (monitored-port.test.ts): a congested router with the programs of a monitored port. Prints what it
// has seen, as JSON.
import { openBpfObject } from '../../src/kernel/bpf/object.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { probeKernel } from '../../src/kernel/probe.ts';
import { messageOf } from '../../src/model/error-text.ts';
import { CongestedRouter, PROXY6, object } from '../bpf/support/congested-router.ts';
import { H1, H2, QPN, data, frame } from '../bpf/support/packets.ts';

const poller = Poller.open({
  onError: (error) => {
    throw error;
  },
});
const features = await probeKernel({ poller });
poller.close();

const objects = Object.fromEntries(
  ['egress', 'proxy', 'guard', 'srv6', 'source', 'hold', 'multicast'].map((name) => {
    try {
      openBpfObject(object(name)).close();
      return [name, 'loaded'];
    } catch (error) {
      return [name, messageOf(error)];
    }
  }),
);

/** The depth that the program sees, and that of `tc`, for the same queue; and what is sent in each format. */
async function monitored(): Promise<object> {
  const r = await CongestedRouter.create();
  try {
    r.lacking();
    r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 0x64]);
    r.configure({});
    r.port({ kMax: 100_000, kMin: 50_000 });
    r.senders(['2001:db8:1::/64', PROXY6]);
    await r.fill(80_000);
    r.policies(['::/0', ['proxy']]);
    r.clear();
    r.send(frame(data()));
    const below = r.records().length;
    await r.fill(150_000);
    const sent: object[] = [];
    for (const format of ['proxy', 'fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] as const) {
      r.policies(['::/0', [format]]);
      r.clear();
      r.send(frame(data()));
      sent.push({
        sent: r.records().map(({ format, queueBytes }) => ({ format, queueBytes })),
        depth: await r.depth(),
      });
    }
    return { below, sent };
  } finally {
    r.close();
  }
}

process.stdout.write(`${JSON.stringify({ features, objects, monitored: await monitored() })}\n`);
