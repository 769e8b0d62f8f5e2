import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import type { Changes } from './hub.ts';
import { MAX_CLIENTS, ViewServer } from './server.ts';

const LAB = { name: 'a lab', file: '/x', width: 1, height: 1, nodes: [], links: [] };
const NOTHING: Changes = { nodes: [], trees: undefined, notifications: [] };
const hub = {
  lab: LAB,
  whole: NOTHING,
  emit: (_changes: Changes): void => {},
  listen(listener: (changes: Changes) => void): () => void {
    this.emit = listener;
    return () => {};
  },
};
const directory = mkdtempSync(join(tmpdir(), 'cnpd-view-'));
let server: ViewServer;
let port: number;

beforeAll(async () => {
  for (const file of ['index.html', 'page.css', 'page.js']) writeFileSync(join(directory, file), `this is ${file}`);
  server = new ViewServer(hub, directory);
  port = await server.listen(0);
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const open = (
  path: string,
  options: { method?: string; headers?: IncomingHttpHeaders } = {},
): Promise<IncomingMessage> =>
  new Promise((done, failed) => {
    request({ host: '127.0.0.1', port, path, ...options }, done)
      .on('error', failed)
      .end();
  });
async function ask(
  ...args: Parameters<typeof open>
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  const response = await open(...args);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return { status: response.statusCode!, text, headers: response.headers };
}

test('the page, with a policy that lets it load and reach nothing but this server', async () => {
  const { status, text, headers } = await ask('/');
  expect([status, text]).toEqual([200, 'this is index.html']);
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/,
  );
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' });
  expect((await ask('/page.js?x')).headers['content-type']).toBe('text/javascript; charset=utf-8');
});

test.each([
  ['evil.example', 421],
  ['evil.example:80', 421],
  ['127.0.0.1.evil.example', 421],
  ['127.0.0.2', 421],
  ['localhost:9', 200],
  ['LOCALHOST', 200],
  ['[::1]:8080', 200],
])('DNS rebinding: a request for the host %j is answered with %d, and so is one for events', async (host, status) => {
  expect((await ask('/', { headers: { host } })).status).toBe(status);
  const events = await open('/events', { headers: { host } });
  expect(events.statusCode).toBe(status);
  events.destroy();
});

test('nothing can be written, no page of another site is answered, and no other file is served', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
    expect((await ask('/', { method })).status).toBe(405);
  expect((await ask('/', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
  for (const path of ['/../package.json', '/%2e%2e/package.json', '/index.html', '//', '/page.js/'])
    expect((await ask(path)).status).toBe(404);
  expect((await ask('/events', { method: 'HEAD' })).text).toBe('');
});

test('events: the lab, then what changes; a text cannot end its event', async () => {
  const response = await open('/events');
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await until('the lab', () => text.includes('"name":"a lab"'));
  const sent = {
    path: ['p1', 'a\n\nevent: lab\ndata: {}'],
    format: 'proxy',
    reason: '',
    port: '',
    queueBytes: 0,
    count: 1,
    at: 0,
  };
  hub.emit({ ...NOTHING, notifications: [sent] });
  await until('the notification', () => text.includes('event: notifications'));
  expect(text.match(/^event: /gm)).toHaveLength(2);
  response.destroy();
});

test('so many pages can be open, and one more when one is closed', async () => {
  const answers: IncomingMessage[] = [];
  const another = async (): Promise<number> => {
    const response = await open('/events');
    if (response.statusCode === 200) answers.push(response);
    else response.resume();
    return response.statusCode!;
  };
  await until('all but one refused', async () => {
    await another();
    return answers.length === MAX_CLIENTS;
  });
  expect(await another()).toBe(503);
  answers.pop()!.destroy();
  await until('there is room again', async () => (await another()) === 200);
  for (const response of answers) response.destroy();
});

test('a page that does not read costs a megabyte; when it reads again it gets the newest state', async () => {
  let response: IncomingMessage | undefined;
  await until('a place', async () => (response = await open('/events')).statusCode === 200);
  const page = response!;
  page.pause();
  const big = { ...NOTHING, trees: [{ group: 'x'.repeat(100_000) }] as unknown as Changes['trees'] };
  const pushed = 400;
  for (let i = 0; i < pushed; i++) hub.emit(big);
  hub.whole = { ...NOTHING, trees: [{ group: 'the newest' }] as unknown as Changes['trees'] };
  let read = 0;
  let last = '';
  page.setEncoding('utf8').on('data', (chunk: string) => {
    read += chunk.length;
    last = (last + chunk).slice(-200);
  });
  page.resume();
  await until('the newest', () => last.includes('the newest'));
  expect(read).toBeLessThan(3_000_000);
  page.destroy();
  hub.whole = NOTHING;
});
