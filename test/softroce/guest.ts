// A guest with a real RoCE stack (Linux SoftRoCE) in the place of a lab's host: its Ethernet port is a TAP that a
// bridge joins with the host's port. Without hardware virtualization a guest is many times slower than this
// machine.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '../../src/lab/lab.ts';
import { until } from '../support/until.ts';
import type { GuestImage } from './guest-image.ts';

const BOOT_LIMIT_MS = 180_000;
const MEMORY_MB = 512;

interface GuestOptions {
  readonly lab: Lab;
  /** The host of the lab whose port the guest takes over. Its own addresses are removed. */
  readonly node: string;
  /** E.g. `2001:db8:1::2/64`; the first one is that of GID index 1. */
  readonly addresses: readonly string[];
  readonly gateway: string;
  readonly mtu?: number;
  readonly image: GuestImage;
  /** For control files. */
  readonly folder: string;
}

export interface GuestResult {
  readonly status: number;
  readonly output: string;
}

export class Guest {
  readonly #process: ChildProcess;
  readonly #control: string;
  #scripts = 0;

  private constructor(process: ChildProcess, control: string) {
    this.#process = process;
    this.#control = control;
  }

  /** Starts a guest and waits until its RoCE device is there. @throws Error with its console when it does not come */
  static async start({ lab, node, addresses, gateway, mtu = 1500, image, folder }: GuestOptions): Promise<Guest> {
    const control = join(folder, `${lab.name}-${node}`);
    rmSync(control, { recursive: true, force: true });
    mkdirSync(control, { recursive: true });
    writeFileSync(join(control, 'mtu'), `${mtu}`);
    const commands = [
      ...addresses.map((one) => `ip address add ${one} dev eth0`),
      `ip route add default via ${gateway}`,
    ];
    writeFileSync(join(control, 'addresses'), commands.join('\n'));
    await bridge(lab, node);
    const number = Number.parseInt(Buffer.from(node).toString('hex').slice(-4), 16);
    const mac = `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`;
    const child = lab.spawn(node, qemu(image, control, mac), { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const guest = new Guest(child, control);
    try {
      await until(
        `the guest ${node} is up`,
        () => child.exitCode ?? existsSync(join(control, 'ready')),
        (seen) => {
          if (typeof seen === 'number') throw new Error(`qemu ended with ${seen}: ${errors}`);
          return seen;
        },
        BOOT_LIMIT_MS,
      );
    } catch (error) {
      await guest.stop();
      throw new Error(`${(error as Error).message}\n${guest.console()}`, { cause: error });
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

/** Joins the host's port with a TAP; the host keeps no address, so that it answers nothing itself. */
async function bridge(lab: Lab, node: string): Promise<void> {
  const script = `
ip address flush dev eth1; ip link set eth1 up
ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
sysctl -qw net.ipv6.conf.br0.disable_ipv6=1 net.ipv6.conf.eth1.disable_ipv6=1
ip tuntap add tap0 mode tap
mtu=$(cat /sys/class/net/eth1/mtu)
for port in eth1 tap0; do ip link set $port mtu $mtu; ip link set $port master br0 up; done
ip link set br0 up
ethtool -K eth1 tx off >/dev/null`;
  await lab.mustExec(node, ['bash', '-euc', script]);
}

/** Without offloads: what reaches the lab is a whole packet with its checksums. */
function qemu({ kernel, initialRamDisk }: GuestImage, control: string, mac: string): string[] {
  const offloads = ['csum', 'gso', 'guest_csum', 'guest_tso4', 'guest_tso6', 'host_tso4', 'host_tso6']
    .map((name) => `${name}=off`)
    .join(',');
  return [
    'qemu-system-x86_64',
    ...['-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '1', '-m', `${MEMORY_MB}`],
    ...['-display', 'none', '-no-reboot', '-nodefaults', '-serial', `file:${join(control, 'console')}`],
    ...['-kernel', kernel, '-initrd', initialRamDisk],
    ...['-append', 'console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off'],
    ...['-virtfs', 'local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap'],
    ...['-virtfs', `local,path=${control},mount_tag=ctl,security_model=none`],
    ...['-netdev', 'tap,id=n,ifname=tap0,script=no,downscript=no,vhost=off'],
    ...['-device', `virtio-net-pci,netdev=n,mac=${mac},${offloads},host_mtu=9000,romfile=`],
  ];
}
