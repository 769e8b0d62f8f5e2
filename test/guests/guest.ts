// A guest with a kernel of its own. Without hardware virtualization it is many times slower than this machine.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import type { GuestImage } from './image.ts';

const BOOT_LIMIT_MS = 180_000;
const MEMORY_MB = 512;

interface BootOptions {
  readonly name: string;
  readonly image: GuestImage;
  /** From emptyFolder(), with what the image's `begin` reads. */
  readonly control: string;
  /** Further arguments of qemu. */
  readonly devices?: readonly string[];
  /** Runs qemu; its standard error has to be a pipe. */
  readonly spawn: (command: readonly string[]) => ChildProcess;
}

/** For a guest's control files. */
export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}

export interface GuestResult {
  readonly status: number;
  readonly output: string;
}

export class Guest {
  readonly #process: ChildProcess;
  readonly #control: string;
  #scripts = 0;
  /** The root of a guest of another architecture. */
  readonly root: string | undefined;

  private constructor(process: ChildProcess, control: string, root: string | undefined) {
    this.#process = process;
    this.#control = control;
    this.root = root;
  }

  /**
   * Starts a guest and waits until it is ready. @throws Error with its console when it does not come
   * @param control folder of its control files
   */
  static async boot({ name, image, control, devices = [], spawn }: BootOptions): Promise<Guest> {
    const child = spawn(qemu(image, control, devices));
    let errors = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const guest = new Guest(child, control, image.arm64?.root);
    try {
      await until(
        `the guest ${name} is up`,
        () => child.exitCode ?? existsSync(join(control, 'ready')),
        (seen) => {
          if (typeof seen === 'number') throw new Error(`qemu ended with ${seen}: ${errors}`);
          return seen;
        },
        BOOT_LIMIT_MS,
      );
    } catch (error) {
      const console = guest.console(); // stop() removes it
      await guest.stop();
      throw new Error(`${(error as Error).message}\n${console}`, { cause: error });
    }
    return guest;
  }

  /** Begins a script of bash; the returned function waits for its end. One at a time. */
  begin(script: string): (limitMs?: number) => Promise<GuestResult> {
    const number = ++this.#scripts;
    const file = (name: string): string => join(this.#control, `${name}.${number}`);
    writeFileSync(file('script'), script);
    this.leave('command', `${number}`);
    const output = (): string => (existsSync(file('out')) ? readFileSync(file('out'), 'utf8') : '');
    return async (limitMs = 120_000) => {
      await until(
        `the end of the script: ${script}`,
        () => existsSync(file('status')) || (output(), false),
        limitMs,
      ).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}\n${output()}`, { cause: error });
      });
      return { status: Number(readFileSync(file('status'), 'utf8')), output: output() };
    };
  }

  /** Puts a file into the guest's /mnt. */
  leave(name: string, content: string): void {
    writeFileSync(join(this.#control, `${name}.tmp`), content);
    renameSync(join(this.#control, `${name}.tmp`), join(this.#control, name));
  }

  /** What the running script has printed so far. */
  outputSoFar(): string {
    const file = join(this.#control, `out.${this.#scripts}`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** Runs a script that must succeed; returns what it printed. */
  async run(script: string, limitMs?: number): Promise<string> {
    const { status, output } = await this.begin(script)(limitMs);
    if (status !== 0) throw new Error(`exit code ${status}: ${script}\n${output}`);
    return output;
  }

  console(): string {
    const file = join(this.#control, 'console');
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-4000) : '';
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGKILL');
      await until('qemu ends', () => this.#process.exitCode !== null || this.#process.signalCode !== null);
    }
    rmSync(this.#control, { recursive: true, force: true });
  }
}

function qemu({ kernel, initialRamDisk, arm64 }: GuestImage, control: string, devices: readonly string[]): string[] {
  const [machine, console] = arm64
    ? [['qemu-system-aarch64', '-machine', 'virt', '-cpu', 'max,pauth-impdef=on'], 'ttyAMA0']
    : [['qemu-system-x86_64', '-cpu', 'max'], 'ttyS0'];
  return [
    ...machine,
    ...['-accel', 'tcg,thread=multi', '-smp', '1', '-m', `${MEMORY_MB}`],
    ...['-display', 'none', '-no-reboot', '-nodefaults', '-serial', `file:${join(control, 'console')}`],
    ...['-kernel', kernel, '-initrd', initialRamDisk],
    ...['-append', `console=${console} quiet panic=-1 rdinit=/init mitigations=off`],
    '-virtfs',
    `local,path=${arm64?.root ?? '/'},mount_tag=host,security_model=none,readonly=on,multidevs=remap`,
    ...['-virtfs', `local,path=${control},mount_tag=ctl,security_model=none`],
    ...devices,
  ];
}
