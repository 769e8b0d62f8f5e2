// Headless Chromium, driven over a pipe by the DevTools protocol: no port is opened, and no library is needed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const CHROMIUM = '/usr/bin/chromium';

/** @throws Error with the output of apt-get */
export function installChromium(): void {
  if (existsSync(CHROMIUM)) return;
  const argv = ['install', '-y', '-qq', '--no-install-recommends', 'chromium'];
  const { status, stderr } = spawnSync('apt-get', argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`apt-get ${argv.join(' ')}: ${stderr} (run apt-get update if it is old)`);
}

type Params = Readonly<Record<string, unknown>>;
interface Answer {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export interface Media {
  readonly scheme?: 'light' | 'dark';
  readonly isStill?: boolean;
  readonly width?: number;
  readonly height?: number;
}

export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, { done: (answer: Answer) => void; failed: (error: Error) => void }>();
  /** What the page has complained about: exceptions, refusals of its Content-Security-Policy. */
  readonly complaints: string[] = [];
  #next = 1;
  #session: string | undefined;
  #onLoad = (): void => {};

  private constructor(child: ChildProcess, profile: string) {
    this.#child = child;
    this.#profile = profile;
    let rest = '';
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop()!;
      for (const message of messages) this.#take(JSON.parse(message) as Answer);
    });
    child.on('exit', () => {
      for (const { failed } of this.#waiting.values()) failed(new Error('Chromium has ended'));
    });
  }

  static async open(): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'cnpd-chromium-'));
    const argv = ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe'];
    const child = spawn(CHROMIUM, [...argv, `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const browser = new Browser(child, profile);
    const { targetInfos } = await browser.#call('Target.getTargets', {});
    const page = (targetInfos as { type: string; targetId: string }[]).find(({ type }) => type === 'page')!;
    const { sessionId } = await browser.#call('Target.attachToTarget', { targetId: page.targetId, flatten: true });
    browser.#session = sessionId as string;
    for (const domain of ['Page', 'Runtime', 'Log']) await browser.#call(`${domain}.enable`, {});
    return browser;
  }

  #call(method: string, params: Params): Promise<Record<string, unknown>> {
    const id = this.#next++;
    const message = { id, method, params, ...(this.#session !== undefined && { sessionId: this.#session }) };
    (this.#child.stdio[3] as Writable).write(`${JSON.stringify(message)}\0`);
    return new Promise((done, failed) =>
      this.#waiting.set(id, {
        done: ({ result, error }) => (error ? failed(new Error(`${method}: ${error.message}`)) : done(result ?? {})),
        failed,
      }),
    );
  }

  #take(answer: Answer): void {
    if (answer.id !== undefined) {
      this.#waiting.get(answer.id)?.done(answer);
      this.#waiting.delete(answer.id);
    } else if (answer.method === 'Page.loadEventFired') this.#onLoad();
    else if (answer.method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(answer.params));
    else if (answer.method === 'Log.entryAdded') {
      const { entry } = answer.params as { entry: { level: string; text: string } };
      if (entry.level === 'error') this.complaints.push(entry.text);
    }
  }

  /** Resolves when the page is loaded. */
  async goto(url: string): Promise<void> {
    const loaded = new Promise<void>((done) => (this.#onLoad = done));
    await this.#call('Page.navigate', { url });
    await loaded;
  }

  async media({ scheme = 'light', isStill = false, width = 1280, height = 860 }: Media): Promise<void> {
    await this.#call('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: isStill ? 'reduce' : 'no-preference' },
      ],
    });
    await this.#call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value?: unknown }).value;
  }

  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp']) await this.#call('Input.dispatchKeyEvent', { type, key, code: key });
  }

  async screenshot(file: string): Promise<void> {
    const { data } = await this.#call('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(data as string, 'base64'));
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.#child.once('exit', done));
    this.#child.kill();
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
