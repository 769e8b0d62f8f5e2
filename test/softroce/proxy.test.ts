// What works through the proxy beside a real RoCE stack: Queue Pairs are learned as the stack has them, CNPs reach it
// whole, and a host that does not know Fast CNP says so.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Poller } from '../../src/kernel/poller.ts';
import { type Lab, labUp } from '../../src/lab/lab.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { Port, rocePackets } from '../e2e/support/port.ts';
import { until } from '../support/until.ts';
import { Guest } from './guest.ts';
import { prepareGuestImage } from './guest-image.ts';
import { Connection } from './verbs.ts';

const REPOSITORY = new URL('../..', import.meta.url).pathname;
const FOLDER = join(REPOSITORY, 'out', 'softroce');
const [H1, H2] = ['2001:db8:1::2', '2001:db8:2::2'];

let lab: Lab;
let h1: Guest, h2: Guest;

type Row = Readonly<Record<string, unknown>>;

const show = async (node: string, what: string): Promise<Row[]> =>
  JSON.parse(await lab.mustExec(node, ['/opt/cnpd/dist/cnpctl.js', 'show', what, '-o', 'json'])) as Row[];

beforeAll(async () => {
  const image = prepareGuestImage(FOLDER);
  lab = await labUp(join(REPOSITORY, 'containerlab/proxy/proxy.clab.yml'), { name: 'softroce-proxy' });
  const common = { lab, image, folder: FOLDER };
  [h1, h2] = await Promise.all([
    Guest.start({ ...common, node: 'h1', addresses: [`${H1}/64`], gateway: '2001:db8:1::1' }),
    Guest.start({ ...common, node: 'h2', addresses: [`${H2}/64`], gateway: '2001:db8:2::1' }),
  ]);
}, 400_000);

afterAll(async () => {
  await Promise.all([h1?.stop(), h2?.stop()]);
  await lab?.down();
  rmSync(join(FOLDER, 'softroce-proxy-h1'), { recursive: true, force: true });
});

const learned = async (sender: string, receiver: string): Promise<Row[]> =>
  (await show('leaf1', 'flows')).filter(
    (row) => row['port'] === 'proxy' && row['source'] === sender && row['destination'] === receiver,
  );

test('the Queue Pairs of a connection that the connection manager sets up are learned as the stack has them', async () => {
  await h1.run('ping -c 3 -W 5 2001:db8:2::2', 60_000);
  const server = h2.begin('timeout 100 rping -s -a :: -C 400 -S 64 -v >/dev/null');
  const client = h1.begin(
    `sleep 3; timeout 90 rping -c -a ${H2} -C 400 -S 64 & sleep 12; rdma resource show qp link rxe0/1; wait`,
  );
  const found = await until(
    'the flow with both Queue Pairs',
    () => learned(H1, H2),
    (rows) => rows.find((row) => row['source-qpn'] !== null),
    100_000,
  );
  const { output } = await client();
  await server();
  const pairs = output.split('\n').filter((line) => line.includes('type RC'));
  expect(pairs.map((line) => Number(line.match(/lqpn (\d+)/)![1]))).toContain(found['source-qpn']);
});

test('a connection without connection manager: learned from traffic; CNPs of a congested port reach the guest', async () => {
  const poller = Poller.create();
  const errors: unknown[] = [];
  const wire = await Port.open(lab, 'h1:eth1', 'leaf1:eth1', { poller, errors });
  try {
    const queue = { psn: 1000, messages: 400, size: 4096, operation: 'send', trafficClass: 2 } as const;
    const [source, receiver] = await Promise.all([
      Connection.open(h1, 'source', { ...queue, address: H1 }),
      Connection.open(h2, 'receiver', { ...queue, address: H2 }),
    ]);
    await receiver.connect({ address: H1, qpn: source.opened.qpn, psn: queue.psn });
    await source.connect({ address: H2, qpn: receiver.opened.qpn, psn: queue.psn });
    source.start();
    const [sent, received] = await Promise.all([source.done(), receiver.done()]);
    expect(sent).toMatchObject({ errors: [], messages: queue.messages, sha256: received.sha256 });
    const row = (await learned(H1, H2)).find(({ 'destination-qpn': qpn }) => qpn === receiver.opened.qpn);
    expect(row).toMatchObject({ 'source-qpn': source.opened.qpn });
    const cnps = rocePackets(wire.packets).filter(({ bth }) => bth.opcode === OPCODE.cnp);
    expect(cnps.length).toBeGreaterThan(0);
    expect(cnps.filter(({ icrcValid }) => !icrcValid)).toEqual([]);
    expect(new Set(cnps.map(({ bth }) => bth.destQpn))).toEqual(new Set([source.opened.qpn]));
  } finally {
    wire.close();
    poller.close();
  }
});
