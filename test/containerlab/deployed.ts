// A scene, deployed by `npm run containerlab`, and its nodes. containerlab writes names of nodes into /etc/hosts and
// /etc/ssh: here into copies that only it sees.
import { type ChildProcess, spawn } from 'node:child_process';
import { run, tryRun } from '../support/run.ts';
import { until } from '../support/until.ts';
import type { Docker } from './docker.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const APART = `
set -e
copy=$(mktemp)
cp /etc/hosts "$copy"
mount --bind "$copy" /etc/hosts
if [ -d /etc/ssh/ssh_config.d ]; then mount -t tmpfs tmpfs /etc/ssh/ssh_config.d; fi
rm "$copy"
cd "$0"
exec "$@"
`;
const ENDPOINT = '/opt/cnpd/dist/roce-endpoint.js';
const PID_FILE = '/run/roce-endpoint.pid';
const LIMIT_MS = 120_000;

export type Row = Readonly<Record<string, unknown>>;

interface Where {
  readonly docker: Docker;
  readonly netns: string;
  readonly containerlab: string;
}

export class Deployed {
  readonly #where: Where;
  readonly #scene: string;
  readonly #running: ChildProcess[] = [];

  private constructor(where: Where, scene: string) {
    [this.#where, this.#scene] = [where, scene];
  }

  /** @throws Error with what containerlab printed */
  static up(where: Where, scene: string): Deployed {
    const deployed = new Deployed(where, scene);
    const output = deployed.#call('up');
    // containerlab goes on when a command of a node fails.
    const failed = output.split('\n').filter((line) => /\bERRO\b/.test(line));
    if (failed.length > 0) {
      deployed.down();
      throw new Error(failed.join('\n'));
    }
    return deployed;
  }

  down(): void {
    for (const child of this.#running.splice(0)) child.kill('SIGKILL');
    this.#call('down');
  }

  #call(command: 'up' | 'down'): string {
    const { netns, docker, containerlab } = this.#where;
    const inside = ['nsenter', `--net=${netns}`, 'unshare', '--mount', 'sh', '-c', APART, ROOT];
    const variables = [`DOCKER_HOST=${docker.host}`, `CONTAINERLAB=${containerlab}`];
    const argv = ['env', ...variables, ...inside, 'npm', 'run', '--silent', 'containerlab', '--', command, this.#scene];
    const { status, output } = tryRun(argv[0]!, ...argv.slice(1));
    if (status !== 0) throw new Error(`containerlab ${command} ${this.#scene}: status ${status}: ${output}`);
    return output;
  }

  #container(node: string): string {
    return `clab-${this.#scene}-${node}`;
  }

  /** @returns standard output of a program in a node. @throws Error unless it ends with 0 */
  exec(node: string, ...argv: string[]): string {
    return this.#where.docker.run('exec', this.#container(node), ...argv);
  }

  /** What `cnpctl show` says at a node, undefined while cnpd does not answer. */
  shown(node: string, ...view: string[]): unknown {
    const argv = ['exec', this.#container(node), 'cnpctl', 'show', ...view, '-o', 'json'];
    const { status, stdout } = this.#where.docker.try(...argv);
    return status === 0 ? JSON.parse(stdout) : undefined;
  }

  /** Waits until cnpd answers. */
  async up(node: string): Promise<void> {
    await until(`cnpd at ${node}`, () => this.shown(node, 'status') !== undefined, LIMIT_MS);
  }

  /** Waits for a row of a view. */
  row(node: string, view: readonly string[], is: (row: Row) => boolean): Promise<Row> {
    return until(
      `a row of \`show ${view.join(' ')}\` at ${node}`,
      () => this.shown(node, ...view) as Row[] | undefined,
      (rows) => rows?.find(is),
      LIMIT_MS,
    );
  }

  /** Starts an endpoint at a host, which has one at a time. */
  start(host: string, ...argv: string[]): Endpoint {
    const { docker } = this.#where;
    const script = ['sh', '-c', `echo $$ > ${PID_FILE}; exec node "$0" "$@"`, ENDPOINT, ...argv];
    const command = ['--host', docker.host, 'exec', this.#container(host), ...script];
    const child = spawn('docker', command, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#running.push(child);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (some: string) => (text += some));
    const whole = (): string[] => text.split('\n').slice(0, -1);
    const events = (): Row[] => whole().map((line) => JSON.parse(line) as Row);
    return {
      events,
      // Docker passes no signal on to what it runs in a container.
      stop: () => void this.exec(host, 'sh', '-c', `kill -TERM $(cat ${PID_FILE})`),
      summary: () => until(`${host}: summary`, events, (all) => all.find(isSummary), LIMIT_MS),
    };
  }
}

const isSummary = ({ event }: Row): boolean => event === 'summary';

export interface Endpoint {
  /** So far. */
  events(): Row[];
  /** Asks it to end in order. */
  stop(): void;
  /** Waits for it: a sender prints it when it is done, a receiver when it was stopped. */
  summary(): Promise<Row>;
}

export const prepareNetns = (name: string): string => {
  run('ip', 'netns', 'add', name);
  run('ip', '-n', name, 'link', 'set', 'lo', 'up');
  return `/run/netns/${name}`;
};
