// The web server of `lab view`: a page and a stream of server-sent events, for browsers of this machine only. It has no
// verb that writes. A page of another site cannot read it, not even by a name that resolves to a loopback address: a
// request counts only with a loopback name in its Host header.
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { join } from 'node:path';
import type { Changes, Hub } from './hub.ts';

/** Pages that are open at the same time. */
export const MAX_CLIENTS = 16;
const MAX_CONNECTIONS = 64;
/** Bytes that a page has not read yet; then it gets the newest state of all nodes when it has. */
const MAX_UNREAD = 1 << 20;
/** A page that reads nothing for so long is cut off. */
const PATIENCE_MS = 30_000;
const HEARTBEAT_MS = 15_000;
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

const FILES = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/page.js': { file: 'page.js', type: 'text/javascript; charset=utf-8' },
} as const;

const hasLoopbackName = ({ headers: { host } }: IncomingMessage): boolean =>
  LOOPBACK_NAMES.has((host ?? '').replace(/:\d{1,5}$/, '').toLowerCase());

/** Browsers say where a request comes from; others, such as curl, say nothing. */
const isFromElsewhere = ({ headers }: IncomingMessage): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']));

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

export const eventsOf = ({ nodes, trees, notifications }: Changes): string =>
  (nodes.length > 0 ? event('nodes', nodes) : '') +
  (trees ? event('trees', trees) : '') +
  (notifications.length > 0 ? event('notifications', notifications) : '');

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

type Source = Pick<Hub, 'lab' | 'whole' | 'listen'>;

/** One open page. */
class Client {
  readonly #response: ServerResponse;
  readonly #hub: Source;
  #isBehind = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, hub: Source) {
    this.#response = response;
    this.#hub = hub;
    response.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream' });
    response.write(event('lab', hub.lab) + eventsOf(hub.whole));
    response.on('drain', () => this.#caughtUp());
  }

  take(changes: Changes): void {
    if (this.#isBehind) return;
    this.#response.write(eventsOf(changes));
    if (this.#response.writableLength < MAX_UNREAD) return;
    this.#isBehind = true;
    this.#patience = setTimeout(() => this.#response.destroy(), PATIENCE_MS);
  }

  heartbeat(): void {
    if (!this.#isBehind) this.#response.write(': still here\n\n');
  }

  /** What was left out meanwhile is in the newest state. Notifications are not: they are of the moment. */
  #caughtUp(): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    clearTimeout(this.#patience);
    this.take(this.#hub.whole);
  }

  close(): void {
    clearTimeout(this.#patience);
    this.#response.destroy();
  }
}

export class ViewServer {
  readonly #server: Server;
  readonly #hub: Source;
  readonly #files: ReadonlyMap<string, { readonly type: string; readonly content: Buffer }>;
  readonly #clients = new Set<Client>();
  readonly #unlisten: () => void;
  readonly #heart: NodeJS.Timeout;

  /** @param directory of the built page */
  constructor(hub: Source, directory: string) {
    this.#hub = hub;
    this.#files = new Map(
      Object.entries(FILES).map(([path, { file, type }]) => [
        path,
        { type, content: readFileSync(join(directory, file)) },
      ]),
    );
    this.#unlisten = hub.listen((changes) => {
      for (const client of this.#clients) client.take(changes);
    });
    this.#heart = setInterval(() => {
      for (const client of this.#clients) client.heartbeat();
    }, HEARTBEAT_MS);
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @param port 0: any that is free @returns the port. Rejects when it cannot be had. */
  listen(port: number): Promise<number> {
    return new Promise((done, failed) => {
      this.#server.once('error', failed);
      this.#server.listen(port, '127.0.0.1', () => {
        const address = this.#server.address();
        done(typeof address === 'object' && address ? address.port : port);
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#heart);
    this.#unlisten();
    for (const client of this.#clients) client.close();
    await new Promise((done) => {
      this.#server.close(done);
      this.#server.closeAllConnections();
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => response.destroy());
    if (!hasLoopbackName(request)) return refuse(response, 421, 'this page is for 127.0.0.1, localhost and [::1]');
    if (isFromElsewhere(request)) return refuse(response, 403, 'not for pages of other sites');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return refuse(response, 405, 'this page only reads');
    }
    const path = (request.url ?? '/').split('?')[0]!;
    if (path === '/events') return this.#follow(request, response);
    const found = this.#files.get(path);
    if (!found) return refuse(response, 404, 'no such page');
    response.writeHead(200, { ...HEADERS, 'Content-Type': found.type, 'Content-Length': found.content.length });
    response.end(request.method === 'HEAD' ? undefined : found.content);
  }

  #follow(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'HEAD') {
      response.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream' }).end();
      return;
    }
    if (this.#clients.size >= MAX_CLIENTS) return refuse(response, 503, `${MAX_CLIENTS} pages are open already`);
    const client = new Client(response, this.#hub);
    this.#clients.add(client);
    response.on('close', () => {
      this.#clients.delete(client);
      client.close();
    });
  }
}
