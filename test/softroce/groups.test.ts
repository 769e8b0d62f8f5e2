// One RC Queue Pair of a real RoCE stack towards two others, through a group: the stacks know nothing of it, and each
// believes that it has one peer. containerlab/rdma-multicast with guests in s1, r1 and r3. The file of no router names
// a member: Queue Pairs are known only when the stacks have made them.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { GROUP, MULTICAST, ROUTERS, ROUTES } from '../../src/demo/multicast/scene.ts';
import { waitForTree } from '../../src/demo/multicast/show.ts';
import { daemonLogs, waitForRoutes } from '../../src/demo/routers.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { type Lab, labUp } from '../../src/lab/lab.ts';
import { loseOneIn } from '../../src/lab/roce/lossy-wire.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { Port, rocePackets } from '../e2e/support/port.ts';
import { ownLabName } from '../e2e/support/network.ts';
import { until } from '../support/until.ts';
import type { Guest } from '../guests/guest.ts';
import { prepareRoceImage, startRoceGuest } from './guest.ts';
import { Connection, type Transferred } from './verbs.ts';

const FOLDER = join(new URL('../..', import.meta.url).pathname, 'out', 'softroce');
const CNPCTL = '/opt/cnpd/dist/cnpctl.js';
const DAEMON = '/opt/cnpd/dist/cnpd.js -c /etc/cnpd/cnpd.yaml >>/var/log/cnpd.log 2>&1 &';
const SOURCE = { node: 's1', router: 'n6', address: '2001:db8:1::2', gateway: '2001:db8:1::1' } as const;
/** Those of r3 begin elsewhere, as if its application had negotiated a PSN of its own. */
const RECEIVERS = [
  { node: 'r1', router: 'n1', address: '2001:db8:11::2', gateway: '2001:db8:11::1', psnDelta: 0, skip: 1 },
  { node: 'r3', router: 'n2', address: '2001:db8:13::2', gateway: '2001:db8:13::1', psnDelta: 70_000, skip: 2 },
] as const;
const never = new AbortController().signal;

let lab: Lab;
let poller: Poller;
const errors: unknown[] = [];
const guests = new Map<string, Guest>();
let kernel: string;

beforeAll(async () => {
  const image = prepareRoceImage(FOLDER);
  kernel = image.version;
  lab = await labUp(MULTICAST.file, { name: await ownLabName('softroce-groups') });
  await waitForRoutes(lab, { routes: ROUTES }, never);
  for (const router of ['n1', 'n2', 'n3', 'n6']) {
    await until(`${router}'s agent runs`, () => agent(router), 60_000);
    await withoutMembers(router);
  }
  poller = Poller.open({ onError: (error) => errors.push(error) });
  await Promise.all(
    [SOURCE, ...RECEIVERS].map(async ({ node, address, gateway }) => {
      guests.set(
        node,
        await startRoceGuest({ lab, image, folder: FOLDER, node, addresses: [`${address}/64`], gateway }),
      );
    }),
  );
}, 540_000);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(await daemonLogs(lab, ROUTERS));
});

afterAll(async () => {
  await Promise.all([...guests.values()].map((guest) => guest.stop()));
  poller?.close();
  await lab?.down();
  if (lab) rmSync(join(FOLDER, lab.name), { recursive: true, force: true });
});

const cnpctl = (node: string, ...argv: string[]): Promise<string> => lab.mustExec(node, [CNPCTL, ...argv]);

type Row = Readonly<Record<string, unknown>>;
const show = async (node: string, ...subject: string[]): Promise<Row[]> =>
  JSON.parse(await cnpctl(node, 'show', ...subject, '-o', 'json')) as Row[];

/** Process of the agent that answers at a node; undefined when none does. */
const agent = async (node: string): Promise<number | undefined> => {
  const { stdout } = await lab.exec(node, [CNPCTL, 'show', 'status', '-o', 'json']);
  return stdout === '' ? undefined : (JSON.parse(stdout) as { readonly pid: number }).pid;
};

/** The router's file in the repository, without its group. */
async function withoutMembers(router: string): Promise<void> {
  const document = parseDocument(readFileSync(join(dirname(MULTICAST.file), router, 'cnpd.yaml'), 'utf8'));
  document.delete('groups');
  const folder = join(FOLDER, lab.name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${router}.yaml`);
  writeFileSync(file, document.toString());
  await lab.cover(router, file, '/etc/cnpd/cnpd.yaml');
  await cnpctl(router, 'reload');
}

const membersAtRoot = async (): Promise<Row[]> =>
  (await show('n6', 'groups', GROUP.proxyAddress, 'members')).filter((row) => row['status'] === 'in force');

interface Ends {
  readonly source: Connection;
  readonly receivers: readonly Connection[];
  readonly psn: number;
  readonly write: boolean;
}

/** As an operator would: at the member's own router, once its application knows its Queue Pair. */
const declareAt = (router: string, options: object): Promise<string> =>
  cnpctl(
    router,
    'group',
    'join',
    GROUP.proxyAddress,
    ...Object.entries(options).flatMap(([k, v]) => [`--${k}`, `${v}`]),
  );

async function declare({ source, receivers, psn, write }: Ends): Promise<void> {
  const common = { 'designated-qpn': GROUP.designatedQpn };
  await declareAt('n6', { source: SOURCE.address, qpn: source.opened.qpn, 'start-psn': psn, ...common });
  for (const [i, { router, address, psnDelta }] of RECEIVERS.entries()) {
    const { qpn, memory, rKey } = receivers[i]!.opened;
    const places = write ? { 'va-delta': memory, 'r-key': rKey } : {};
    await declareAt(router, { receiver: address, qpn, 'psn-delta': psnDelta, ...places, ...common });
  }
  const qpns = receivers.map(({ opened }) => opened.qpn).sort();
  const isThere = (rows: readonly Row[]): boolean =>
    rows.length === 3 &&
    isDeepStrictEqual(
      rows
        .filter((row) => row['role'] === 'receiver')
        .map((row) => Number(row['qpn']))
        .sort(),
      qpns,
    );
  await until('the root knows the members', membersAtRoot, isThere, 60_000);
  await waitForTree(lab, never);
}

/** Applications end: their Queue Pairs are members no more. */
async function leave(): Promise<void> {
  for (const { router, address } of RECEIVERS)
    await cnpctl(router, 'group', 'leave', GROUP.proxyAddress, '--receiver', address);
  await cnpctl('n6', 'group', 'leave', GROUP.proxyAddress, '--source', SOURCE.address);
  await until(
    'the root knows no group',
    () => show('n6', 'groups'),
    (rows) => rows.length === 0,
    60_000,
  );
}

interface Run {
  readonly operation: 'send' | 'write';
  readonly messages: number;
  /** Of the source's link, where few messages are then under way: else they would wait longer than a retry. */
  readonly slow?: boolean;
  readonly meanwhile?: (source: Connection) => Promise<void>;
}

interface Seen {
  readonly source: Transferred;
  readonly receivers: readonly Transferred[];
  /** RoCE packets on the source's link. */
  readonly wire: ReturnType<typeof rocePackets>;
  readonly sourceQpn: number;
}

async function transfer({ operation, messages, slow, meanwhile }: Run): Promise<Seen> {
  await lab.mustExec(
    's1',
    `tc qdisc change dev eth1 root tbf rate ${slow ? '1mbit' : '50mbit'} burst 20000 limit 4000000`.split(' '),
  );
  const psn = 0xfffff0; // it wraps
  const queue = { psn, messages, size: 4096, operation, window: slow ? 4 : 64 };
  const source = await Connection.open(guests.get('s1')!, 'source', { ...queue, address: SOURCE.address });
  const receivers = await Promise.all(
    RECEIVERS.map(({ node, address, skip }) =>
      Connection.open(guests.get(node)!, 'receiver', { ...queue, address, skip }),
    ),
  );
  await declare({ source, receivers, psn, write: operation === 'write' });
  const peer = { address: GROUP.proxyAddress, qpn: GROUP.designatedQpn };
  for (const [i, { psnDelta }] of RECEIVERS.entries())
    await receivers[i]!.connect({ ...peer, psn: (psn + psnDelta) & 0xffffff });
  // What a WRITE names is the same for all: the edges know what it is at each receiver.
  await source.connect({ ...peer, psn, memory: 0, rKey: 1 });
  const wire = await Port.open(lab, 's1:eth1', 'n6:eth1', { poller, errors });
  try {
    source.start(slow ? messages / 2 : messages + 1);
    await meanwhile?.(source);
    const sent = await source.done();
    const received = await Promise.all(receivers.map((receiver) => receiver.done()));
    return { source: sent, receivers: received, wire: rocePackets(wire.packets), sourceQpn: source.opened.qpn };
  } finally {
    wire.close();
    await leave();
  }
}

/** No error anywhere, and the same octets everywhere. */
function expectEqualCopies({ source, receivers, wire, sourceQpn }: Seen): void {
  expect(source.errors, kernel).toEqual([]);
  for (const receiver of receivers) expect(receiver).toMatchObject({ errors: [], sha256: source.sha256 });
  // One answer for all, from the one peer that the source knows.
  const answers = wire.filter(({ bth }) => bth.opcode === OPCODE.acknowledge);
  expect(answers.length).toBeGreaterThan(0);
  expect(new Set(answers.map(({ bth }) => bth.destQpn))).toEqual(new Set([sourceQpn]));
  expect(answers.filter(({ icrcValid }) => !icrcValid)).toEqual([]);
  expect(errors).toEqual([]);
}

test('RMC-1-a RMC-5.2-k RMC-5.3.1-a: SENDs of a Linux RoCE stack reach two others, and their answers come back as one', async () => {
  expectEqualCopies(await transfer({ operation: 'send', messages: 256 }));
});

test('RMC-5.2-k: WRITEs reach the memory of each, at its own address and with its own R_Key', async () => {
  expectEqualCopies(await transfer({ operation: 'write', messages: 256 }));
});

test.each(['send', 'write'] as const)('RMC-5.3.2-a: %s, and one receiver loses packets', async (operation) => {
  const wire = loseOneIn(50, { interface: 'eth1', netns: Netns.open(lab.netnsPath('r3')) });
  try {
    expectEqualCopies(await transfer({ operation, messages: 256 }));
    expect(wire.lost()).toBeGreaterThan(0);
  } finally {
    wire.close();
  }
});

test('kill -9 of the agents of n4 and n1 in the middle: the transfer goes on, and the agents come back', async () => {
  const messages = 1024;
  const goesOn = (source: Connection): Promise<boolean> => {
    const before = source.progress;
    return until(`more than ${before} messages`, () => source.progress > before, 60_000);
  };
  const seen = await transfer({
    operation: 'send',
    messages,
    slow: true,
    meanwhile: async (source) => {
      await goesOn(source);
      for (const node of ['n4', 'n1']) {
        process.kill((await agent(node))!, 'SIGKILL');
        await until(
          `${node}'s agent is gone`,
          () => agent(node),
          (pid) => pid === undefined,
          60_000,
        );
      }
      source.start((messages * 3) / 4);
      await goesOn(source);
      for (const node of ['n4', 'n1']) await lab.mustExec(node, ['sh', '-c', DAEMON]);
      for (const node of ['n4', 'n1']) await until(`${node}'s agent runs`, () => agent(node), 60_000);
      expect(source.progress).toBeLessThan(messages);
      source.start();
      await goesOn(source);
    },
  });
  expectEqualCopies(seen);
});
