// Runs in a guest (monitored-port.test.ts, arm64.test.ts): a congested router with the programs of a monitored port.
// Prints what it has seen, as JSON.
import type { SentNotification } from '../../src/model/notification.ts';
import { missingFeatures } from '../../src/plan/facts.ts';
import { CongestedRouter, PROXY6 } from '../bpf/support/congested-router.ts';
import { H1, H2, QPN, data, frame } from '../bpf/support/packets.ts';
import { type Loading, whatLoads } from './loading.ts';

type Sent = Pick<SentNotification, 'format' | 'queueBytes'>;

interface Monitored {
  /** Notifications below the threshold. */
  readonly below: number;
  readonly sent: readonly { readonly sent: readonly Sent[]; readonly depth: number }[];
}

export type MonitoredPort = Loading & { readonly monitored?: Monitored };

/** The depth that the program sees, and that of `tc`, for the same queue; and what is sent in each format. */
async function monitored(): Promise<Monitored> {
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
    const sent: { sent: Sent[]; depth: number }[] = [];
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

const loading = await whatLoads();
const canMonitor = missingFeatures('ports', loading).length === 0;
const seen: MonitoredPort = { ...loading, ...(canMonitor && { monitored: await monitored() }) };
process.stdout.write(`${JSON.stringify(seen)}\n`);
