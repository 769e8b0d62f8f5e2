// Networks with p as the congested node, whose port eth2 is a narrow TBF: its queue is filled and drained at will, and
// what it sends to the senders is read where they are. Between h1 and h2 is the line (topologies/line), or the SRv6
// domain (topologies/wan).
import { once } from 'node:events';
import { address } from '../../../src/model/address.ts';
import { H1, H2, base, routed } from './line.ts';
import { Network, type Router, type Row, program } from './network.ts';
import { type Notification, notificationsTo } from './notifications.ts';
import { Flow, type Port } from './port.ts';
import { tokenBucket } from './token-bucket.ts';
import { until } from '../../support/until.ts';

/** p without IS-IS: it watches its port and has policies. */
export const congestedNode = (
  senders: readonly object[],
  port: object,
  rest: { notifications?: object } = {},
): object => {
  const { router } = base('p') as { router: object };
  return { router, ports: [{ interface: 'eth2', ...port }], notifications: { senders, ...rest.notifications } };
};

export class CongestedNetwork {
  readonly net: Network;
  readonly p: Router;
  /** h2's addresses. */
  protected readonly receiver: { readonly v6: string; readonly v4: string } = H2;
  h1!: Port;
  h2!: Port;
  #nextQpn = 0x4000;

  protected constructor(net: Network) {
    this.net = net;
    this.p = net.router('p');
  }

  port(at: string, neighbor: string): Promise<Port> {
    return this.net.port(at, neighbor);
  }

  down(): Promise<void> {
    return this.net.down();
  }

  clear(): void {
    this.net.clearPorts();
  }

  /**
   * p's port from now on sends at this rate; what is queued stays queued. A reading of what the port is like is on its
   * way to cnpd then.
   */
  async rate(rate: string): Promise<void> {
    await this.p.exec(...tokenBucket('eth2', { verb: 'change', rate }));
  }

  reload(intent: object, router = this.p): Promise<void> {
    return router.reload(intent);
  }

  /** @param from where the sender is: h1 unless another port is named */
  flow(source: string = H1.v6, payloadLength = 1024, from = this.h1): Flow {
    this.#nextQpn += 2;
    const sender = address(source);
    return new Flow(
      from,
      this.h2,
      {
        source: sender,
        destination: address(sender.family === 6 ? this.receiver.v6 : this.receiver.v4),
        senderQpn: this.#nextQpn,
        receiverQpn: this.#nextQpn + 1,
      },
      payloadLength,
    );
  }

  /** Waits until p knows the sender's Queue Pair. */
  async learned(flow: Flow): Promise<Row> {
    return until(
      'the Queue Pair is learned',
      () => this.p.get('flows'),
      (all) => all.find((row) => row['port'] === 'proxy' && row['source-qpn'] === flow.ends.senderQpn),
    );
  }

  async connected(source?: string, payloadLength?: number): Promise<Flow> {
    const flow = this.flow(source, payloadLength);
    flow.connect();
    await this.learned(flow);
    return flow;
  }

  /** Sends bursts of 33 kB until `choose` finds an answer in what `look` returns, as in `until`. */
  congest<State, Answer>(
    what: string,
    flow: { send(count: number): void },
    look: () => State | Promise<State>,
    choose: (seen: State) => Answer | undefined | false,
  ): Promise<Answer> {
    return until(
      what,
      () => {
        flow.send(30);
        return look();
      },
      choose,
    );
  }

  /**
   * Traffic between two RoCE endpoints until it ends by itself.
   * @returns the events of the sender; `summary` is the one before the last
   */
  async transfer(opts: {
    readonly source: string;
    readonly rate: string;
    readonly duration: string;
    readonly options?: readonly string[];
  }): Promise<Row[]> {
    const { lab } = this.net;
    const receiver = opts.source.includes(':') ? this.receiver.v6 : this.receiver.v4;
    const listener = lab.spawn(
      'h2',
      [...program('roce-endpoint'), 'listen', '--interface', 'eth1', '--address', receiver, '--cnp-interval', 'off'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(listener.stdout!, 'data');
    try {
      // Whoever waits for a processor is not to take that for a loss.
      const ends = ['--interface', 'eth1', '--address', opts.source, '--peer', receiver, '--timeout', '20s'];
      const { stdout } = await lab.exec('h1', [
        ...program('roce-endpoint'),
        'send',
        ...ends,
        '--rate',
        opts.rate,
        '--duration',
        opts.duration,
        ...(opts.options ?? []),
      ]);
      return stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as Row);
    } finally {
      const ended = once(listener, 'close');
      listener.kill('SIGTERM');
      await ended;
    }
  }

  /** The notifications of the flow's sender about it. */
  notificationsOf({ ends }: Flow, at = this.h1): Notification[] {
    const about = ({ fastCnp, longHaul }: Notification): boolean =>
      fastCnp?.packet.bth.destQpn === ends.receiverQpn || longHaul?.sourceQpn === ends.senderQpn;
    return notificationsTo(ends.source, at.packets).filter(about);
  }
}

export class CongestedLine extends CongestedNetwork {
  readonly leaf = this.net.router('leaf');

  static async up(): Promise<CongestedLine> {
    const line = new CongestedLine(await Network.up('line'));
    line.h1 = await line.port('h1:eth1', 'leaf:eth1');
    line.h2 = await line.port('h2:eth1', 'far:eth1');
    await routed(line.net);
    return line;
  }

  /**
   * Makes h1's wire the place of senders whose addresses the kernel of h1 does not have: it is silent about all that
   * they get.
   */
  async silentSenders(...addresses: string[]): Promise<void> {
    const mac = (await this.net.lab.mustExec('h1', ['cat', '/sys/class/net/eth1/address'])).trim();
    for (const each of addresses)
      await this.leaf.exec('ip', 'neigh', 'replace', each, 'lladdr', mac, 'dev', 'eth1', 'nud', 'permanent');
  }
}
