// Runs in a guest (port-shapes.test.ts): ports with several transmit queues, and VLANs and bonds above them. Prints, as
// JSON, the depth that the program has seen and the one that `tc` shows.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { EGRESS_PROGRAMS } from '../../src/kernel/dataplane/egress.ts';
import type { PacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { type PortQueue, portQueue } from '../../src/plan/port-queue.ts';
import { readKernelFacts } from '../../src/coordinator/kernel-facts.edge.ts';
import { eventLoopWork } from '../../src/model/work.ts';
import { CongestedRouter, PROXY6 } from '../bpf/support/congested-router.ts';
import { H1, H2, QPN, data, frame } from '../bpf/support/packets.ts';
import { until } from '../support/until.ts';

const QUEUES = 4;
const r = await CongestedRouter.create();
const run = (...[command, ...args]: string[]): string =>
  r.router.run(() => execFileSync(command!, args, { encoding: 'utf8' }));
const sh = (script: string): string => run('bash', '-euc', script);
/** Only there is net.core.default_qdisc, which counts for all namespaces. */
const outside = (script: string): string => execFileSync('bash', ['-euc', script], { encoding: 'utf8' });

interface ShownQdisc {
  readonly kind: string;
  readonly root?: boolean;
  readonly parent?: string;
  readonly backlog: number;
}
const qdiscs = (port: string): ShownQdisc[] =>
  JSON.parse(run('tc', '-j', '-s', 'qdisc', 'show', 'dev', port)) as ShownQdisc[];
const below = (port: string): number[] =>
  qdiscs(port)
    .filter(({ root, parent, kind }) => !root && parent !== undefined && kind !== 'clsact')
    .map(({ backlog }) => backlog);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Two traffic classes with two queues each. */
const MQPRIO = 'mqprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 2@0 2@2 hw 0';

/** A port with several transmit queues, to a neighbor that is known. */
async function port(name: string, address: string, kind = 'mq'): Promise<number> {
  sh(`ip link add ${name} numtxqueues ${QUEUES} numrxqueues ${QUEUES} type veth \
        peer name ${name}-far numtxqueues ${QUEUES} numrxqueues ${QUEUES}
      sysctl -qw net.ipv6.conf.${name}.disable_ipv6=1 net.ipv6.conf.${name}-far.disable_ipv6=1
      ip link set ${name}-far arp off up; ip link set ${name} up
      ip address add ${address}.1/24 dev ${name}
      ip neighbor add ${address}.2 lladdr 02:00:00:00:09:02 dev ${name}
      tc qdisc replace dev ${name} root handle 1: ${kind}`);
  return (await r.rtnl.link(name))!.ifindex;
}

const root = (port: string): number[] => [qdiscs(port).find((qdisc) => qdisc.root)!.backlog];

/**
 * Sends other traffic in flows that spread over the queues and two traffic classes. An fq keeps packets that are to
 * leave in half an hour.
 */
const FLOOD = `
import socket, struct, sys, time
SO_PRIORITY, SO_TXTIME, CLOCK_MONOTONIC = 12, 61, 1
for flow in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, flow % 2)
    s.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack('iI', CLOCK_MONOTONIC, 0))
    leave = struct.pack('Q', int((time.monotonic() + 1800) * 1e9))
    for n in range(3):
        s.sendmsg([bytes(900)], [(socket.SOL_SOCKET, SO_TXTIME, leave)], 0, (sys.argv[1], 2000 + flow))
`;

/** Returns what `tc` shows when nothing changes any more. */
async function load(to: string, read: () => number[]): Promise<number[]> {
  run('python3', '-c', FLOOD, to, '64');
  let last = '';
  return until(`the queues to ${to} stand still`, read, (now) => {
    const same = sum(now) > 0 && last === now.join();
    last = now.join();
    return same && now;
  });
}

/** What is notified about a packet of this port with each threshold. */
function notified(kMax: number, multiqueue = true): number[] {
  r.clear();
  r.port({ kMax, kMin: null, multiqueue });
  // A sum of an earlier packet may still be in use for as many packets as there are queues.
  for (let packet = 0; packet <= QUEUES; packet++) r.send(frame(data()));
  return [...new Set(r.records().map(({ queueBytes }) => queueBytes))];
}

async function measured(name: string, address: string, child: string, kind = 'mq'): Promise<object> {
  r.portIfindex = await port(name, address, kind);
  for (let queue = 1; queue <= QUEUES; queue++) sh(`tc qdisc replace dev ${name} parent 1:${queue} ${child}`);
  const empty = notified(0);
  const queues = await load(`${address}.2`, () => below(name));
  const depth = sum(queues);
  const [at, above] = [notified(depth), notified(depth - 1)];
  const fact = (await readKernelFacts({ rtnetlink: r.rtnl, work: eventLoopWork(), features: [] })).qdiscs.find(
    ({ ifindex }) => ifindex === r.portIfindex,
  );
  return { queues, depth, root: root(name)[0], empty, at, above, fact };
}

/** The root has become a TBF, which all queues share, and the program is not told. */
async function replaced(name: string, address: string): Promise<object> {
  sh(`tc qdisc replace dev ${name} root handle 2: tbf rate 8bit burst 2000 limit 10m`);
  const depth = sum(await load(`${address}.2`, () => root(name)));
  return { depth, seen: notified(depth - 1) };
}

/** A network card of one queue whose device takes a ring full of packets, and no more. What comes next stays queued. */
async function card(address: string): Promise<object[]> {
  const poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  const outside = Rtnetlink.open({}, { poller });
  const name = readdirSync('/sys/class/net').find((one) => existsSync(`/sys/class/net/${one}/device/driver`))!;
  await outside.setLink(name, { netns: r.router });
  outside.close();
  poller.close();
  sh(`sysctl -qw net.ipv6.conf.${name}.disable_ipv6=1; ip link set ${name} up; ip address add ${address}.1/24 dev ${name}
      ip neighbor add ${address}.2 lladdr 02:00:00:00:09:02 dev ${name}`);
  r.portIfindex = (await r.rtnl.link(name))!.ifindex;
  const found: object[] = [];
  for (const kind of ['fq_codel', 'pfifo', 'bfifo', 'pfifo_fast']) {
    sh(`tc qdisc replace dev ${name} root ${kind}`);
    found.push(
      await until('the queue stands still while it is read', () => {
        run('python3', '-c', FLOOD, `${address}.2`, '400');
        const depth = sum(root(name));
        const [empty, at, above] = [0, depth, depth - 1].map((kMax) => notified(kMax, false));
        return depth > 0 && sum(root(name)) === depth && { kind: qdiscs(name)[0]!.kind, depth, empty, at, above };
      }),
    );
  }
  return found;
}

/** A port whose queues all have a pfifo_fast: what the plan says of it, before and after its remedy. */
async function remedied(name: string, address: string, kind: string): Promise<object> {
  outside('sysctl -qw net.core.default_qdisc=pfifo_fast');
  await port(name, address, kind);
  const planned = async (): Promise<PortQueue> => {
    const facts = await readKernelFacts({ rtnetlink: r.rtnl, work: eventLoopWork(), features: [] });
    return portQueue(
      facts.links.find((link) => link.name === name)!,
      facts,
      'give it a TBF',
    );
  };
  const before = await planned();
  if (before.readable) throw new Error(`pfifo_fast is taken for readable: ${before.measured}`);
  for (const [, command] of before.remedy.matchAll(/`([^`]*)`/g))
    (command!.startsWith('sysctl') ? outside : sh)(command!);
  return { before, after: await planned(), queues: below(name).length };
}

/** Where packets of an interface above are notified about, tagged or not: from the port, or from elsewhere. */
async function above(upper: string): Promise<boolean[]> {
  r.clear();
  r.port({ kMax: 1000, kMin: null, multiqueue: true });
  const socket: PacketSocket = r.capture(upper, r.router, []);
  await until(`packets of ${upper} are notified about`, () => {
    socket.send(frame(data()));
    return r.records().length > 0;
  });
  return [...new Set(r.records().map(({ ifindex }) => ifindex === r.portIfindex))];
}

try {
  r.lacking();
  r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 0x64]);
  r.configure({});
  r.senders(['2001:db8:1::/64', PROXY6]);
  r.policies(['::/0', ['proxy']]);
  const tbf = await measured('multi', '10.8.1', 'tbf rate 8bit burst 2000 limit 1m');
  r.attach(EGRESS_PROGRAMS.egress, r.portIfindex, 'egress');
  sh('ip link add link multi name multi.5 up type vlan id 5');
  const vlan = await above('multi.5');
  const shared = await replaced('multi', '10.8.1');
  r.portIfindex = await port('slave', '10.8.3');
  r.attach(EGRESS_PROGRAMS.egress, r.portIfindex, 'egress');
  sh(`for queue in $(seq ${QUEUES}); do tc qdisc replace dev slave parent 1:$queue tbf rate 8bit burst 2000 limit 1m; done
      ip link add bond0 type bond mode active-backup; ip link set slave down; ip link set slave master bond0
      ip link set bond0 up; ip link set slave up`);
  const bond = await above('bond0');
  const fq = await measured('paced', '10.8.2', 'fq horizon 3600s');
  const single = await card('10.8.4');
  const classes = await measured('classes', '10.8.6', 'tbf rate 8bit burst 2000 limit 1m', MQPRIO);
  const fast = { mq: await remedied('fast', '10.8.5', 'mq'), mqprio: await remedied('fast-prio', '10.8.7', MQPRIO) };
  const links = (await readKernelFacts({ rtnetlink: r.rtnl, work: eventLoopWork(), features: [] })).links;
  const of = (name: string) => links.find((link) => link.name === name);
  const lower = { vlan: of('multi.5'), port: of('multi'), bond: of('bond0'), slave: of('slave') };
  process.stdout.write(`${JSON.stringify({ tbf, vlan, shared, fq, bond, single, classes, fast, lower })}\n`);
} finally {
  r.close();
}
