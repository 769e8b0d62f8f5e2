// The page of `lab view` as a reader has it: a real lab with congestion, its own process, a real browser.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Endpoint, startListener, startSender } from '../../src/demo/endpoints.ts';
import { waitForRoutes } from '../../src/demo/routers.ts';
import { proxy } from '../../src/demo/scenes/proxy.ts';
import { type Lab, labUp } from '../../src/lab/lab.ts';
import type { LabView, NodeView, TreeView } from '../../src/view/model.ts';
import { ViewServer } from '../../src/view/server.ts';
import { ownLabName } from '../e2e/support/network.ts';
import { is, until } from '../support/until.ts';
import { Browser, installChromium } from './browser.ts';

const DIST = join(import.meta.dirname, '../../dist');
const never = new AbortController().signal;
const NOTIFIED = "[...document.querySelectorAll('#log li')].map((li) => li.textContent)";
const labelOf = (node: string): string =>
  `[...document.querySelectorAll('.node')].map((n) => n.getAttribute('aria-label')).find((l) => l.startsWith('${node},'))`;

/** Beside the original, because its paths are relative: with a detour from p1 over x to leaf1, which no route takes. */
const FILE = join(dirname(proxy.file), `.${process.pid}.clab.yml`);
const ROUTER = 'sysctls: { net.ipv6.conf.all.forwarding: 1 }';
const DETOUR = {
  nodes: `    x: { ${ROUTER} }\n\n  links:\n`,
  links: "    - endpoints: ['p1:eth3', 'x:eth1']\n    - endpoints: ['x:eth2', 'leaf1:eth3']\n",
};

let lab: Lab;
let viewer: ChildProcess;
let browser: Browser;
let listener: Endpoint | undefined;
let sender: Endpoint | undefined;

const depth = async (): Promise<number> =>
  Number(await browser.evaluate("document.querySelector('.gauge')?.dataset.bytes ?? -1"));
const listed = async (): Promise<string> => ((await browser.evaluate(NOTIFIED)) as string[]).join('\n');

async function startTraffic(): Promise<void> {
  listener = startListener(lab, proxy.receiver, 'off');
  await listener.waitFor('ready');
  sender = startSender(lab, proxy, { sender: ['--reaction', 'dcqcn'], durationMs: 300_000 });
}

beforeAll(async () => {
  installChromium();
  const text = readFileSync(proxy.file, 'utf8');
  writeFileSync(FILE, text.replace('\n  links:\n', DETOUR.nodes) + DETOUR.links);
  lab = await labUp(FILE, { name: await ownLabName('t-view') });
  await waitForRoutes(lab, proxy, never);
  await proxy.learn(lab, never);
  viewer = spawn(process.execPath, [join(DIST, 'lab.js'), 'view', lab.name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface({ input: viewer.stdout! }), 'line')) as [string];
  browser = await Browser.open();
  await browser.media({});
  await browser.goto(url);
});

afterAll(async () => {
  await Promise.all([sender?.stop(), listener?.stop()]);
  await browser?.close();
  if (viewer?.exitCode === null) {
    const ended = once(viewer, 'exit');
    viewer.kill();
    expect(await ended).toEqual([0, null]);
  }
  await lab?.down();
  rmSync(FILE, { force: true });
});

test('every node is there, routers with the state of their cnpd; the watched port has a gauge', async () => {
  await until(
    'p1 runs',
    () => browser.evaluate(labelOf('p1')),
    (label) => label === 'p1, cnpd',
  );
  expect(await browser.evaluate("document.querySelectorAll('.node').length")).toBe(lab.nodes.length);
  expect(await browser.evaluate(labelOf('h1'))).toBe('h1, host');
  await until('a queue', depth, (bytes) => bytes === 0);
  expect(await browser.evaluate("document.querySelector('#cards').textContent")).toContain(
    'K_min 50.0 kB, K_max 100 kB',
  );
});

test('congestion: the bar of the queue rises above K_max, and notifications go from p1 to leaf1 and from there to h1', async () => {
  await startTraffic();
  await until('a deep queue', depth, (bytes) => bytes > 100_000);
  expect(
    Number(await browser.evaluate("document.querySelector('.gauge .fill').getAttribute('height')")),
  ).toBeGreaterThan(0);
  await until('the notice to the proxy', listed, (text) => text.includes('p1 → leaf1'));
  await until('the CNP to the sender', listed, (text) => text.includes('leaf1 → h1'));
  await until('a dot on a link', () => browser.evaluate("document.querySelector('circle.dot') !== null"));
  await until('a bar that moves', async () => {
    const before = await browser.evaluate("document.querySelector('.gauge .fill').getAttribute('height')");
    return before !== (await browser.evaluate("document.querySelector('.gauge .fill').getAttribute('height')"));
  });
});

test('who wants no motion sees links light up, and nothing that travels', async () => {
  await browser.media({ isStill: true });
  await until('no dot', () => browser.evaluate("document.querySelector('circle.dot') === null"));
  await until('a lit link', () => browser.evaluate("document.querySelector('.link.lit') !== null"));
  expect(await browser.evaluate("document.querySelector('circle.dot') === null")).toBe(true);
  await browser.media({});
});

test('by keyboard: the arrows lead from node to node, Enter shows what a router has learned', async () => {
  await browser.evaluate(`[...document.querySelectorAll('.node')].find((n) => n.ariaLabel?.startsWith('h1')).focus()`);
  for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await browser.press(key);
  const details = "document.querySelector('#details').textContent";
  expect(await browser.evaluate(details)).toMatch(/^p1running/);
  expect(await browser.evaluate(details)).toContain('2001:db8:1::/64 → leaf1 over isis');
  for (const key of ['ArrowLeft', 'Enter']) await browser.press(key);
  expect(await browser.evaluate(details)).toContain('Answers for2001:db8:1::/64');
});

test('a cnpd that ends is shown as down, and shown again when it is back', async () => {
  await lab.mustExec('p1', ['sh', '-c', 'kill $(cat /run/cnpd/cnpd.pid)']);
  await until(
    'p1 is down',
    () => browser.evaluate(labelOf('p1')),
    (label) => label === 'p1, cnpd, down',
  );
  expect(await browser.evaluate("document.querySelector('.gauge') === null")).toBe(true);
  const start = '/opt/cnpd/dist/cnpd.js -c /etc/cnpd/cnpd.yaml >/var/log/cnpd.log 2>&1 &';
  await lab.mustExec('p1', ['sh', '-c', start]);
  await until(
    'p1 runs again',
    () => browser.evaluate(labelOf('p1')),
    (label) => label === 'p1, cnpd',
  );
  await until('its queue', depth, (bytes) => bytes >= 0);
});

test('notifications take the way that is routed, though another has fewer links; the page sees it when routes change', async () => {
  const ip = (node: string, ...args: string[]) => lab.mustExec(node, ['ip', '-6', ...args]);
  const [leaf1, p1] = ['2001:db8:ffff::1', '2001:db8:ffff::2'];
  for (const [node, net, link] of [
    ['p1', '91::1', 'eth3'],
    ['x', '91::2', 'eth1'],
    ['x', '92::2', 'eth2'],
    ['leaf1', '92::1', 'eth3'],
  ] as const)
    await ip(node, 'address', 'add', `2001:db8:${net}/64`, 'dev', link);
  await ip('x', 'route', 'add', leaf1, 'via', '2001:db8:92::1');
  await ip('x', 'route', 'add', p1, 'via', '2001:db8:91::1');
  // p1's program finds a next hop only once the kernel has its link-layer address.
  await lab.mustExec('p1', ['ping', '-6', '-c', '1', '2001:db8:91::2']);
  expect(await listed()).not.toContain('→ x →');
  // Both ways: leaf1 refuses notices that come by another way than answers to them would go.
  const change = async (how: 'add' | 'del'): Promise<void> => {
    await ip('leaf1', 'route', how, p1, 'via', '2001:db8:92::2', 'metric', '1');
    await ip('p1', 'route', how, leaf1, 'via', '2001:db8:91::2', 'metric', '1');
  };
  await change('add');
  await until('the detour', listed, (text) => text.includes('p1 → x → leaf1'));
  const lit = `(() => {
    const box = document.querySelector('.node[aria-label^="x,"] .box');
    const middle = Number(box.getAttribute('x')) + Number(box.getAttribute('width')) / 2;
    return [...document.querySelectorAll('.link.lit')].filter(({ x1, x2 }) =>
      [x1.baseVal.value, x2.baseVal.value].includes(middle)).length;
  })()`;
  await until('its two links light up', () => browser.evaluate(lit), is(2));
  // FRR has taken its own routes out of the kernel meanwhile: until they are back, p1 cannot notify, and says so.
  await change('del');
  await until('the shortest again', async () => (await listed()).split('\n')[0]!.includes('p1 → leaf1'));
});

test('the page has no complaint: its policy lets it do all it does', () => {
  expect(browser.complaints).toEqual([]);
});

test('what a router says is text, whatever it is', async () => {
  const evil = '<img src=x onerror="document.title=1"></text><script>document.title=2</script>';
  const view: LabView = {
    ...{ name: evil, file: '', width: 400, height: 200, links: [] },
    nodes: [{ name: evil, kind: 'cnpd', x: 100, y: 100 }],
  };
  const node: NodeView = {
    ...{ name: evil, kind: 'cnpd', status: 'down', reason: evil, version: evil, addresses: [evil], answersFor: [evil] },
    problems: [{ feature: evil, problem: evil, remedy: evil }],
    ports: [],
    senders: [{ prefix: evil, proxy: evil, proxyNode: '', carrier: evil }],
    sids: [{ sid: evil, behavior: evil, status: evil, isLocal: true }],
    groups: [{ address: evil, name: evil, roles: [evil], status: evil, receivers: 1 }],
    omitted: 0,
  };
  const tree: TreeView = {
    ...{ group: evil, name: evil, source: '', root: evil, branching: [], edges: [], receivers: [], hops: [] },
  };
  const sent = { path: [evil], format: evil, reason: evil, port: evil, queueBytes: 1, count: 1, at: 1 };
  const hub = { lab: view, whole: { nodes: [node], trees: [tree], notifications: [sent] }, listen: () => () => {} };
  const server = new ViewServer(hub, join(DIST, 'view'));
  try {
    await browser.goto(`http://127.0.0.1:${await server.listen(0)}/`);
    await until('the texts', () => browser.evaluate('document.body.textContent.includes("onerror")'));
    await until('the tree', () => browser.evaluate("!document.querySelector('#tree-choice').hidden"));
    expect(await browser.evaluate("document.querySelectorAll('img, body script:not([src])').length")).toBe(0);
    expect(await browser.evaluate('document.title')).toBe(`cnpd: ${evil}`);
  } finally {
    await browser.goto('about:blank');
    await server.close();
  }
});
