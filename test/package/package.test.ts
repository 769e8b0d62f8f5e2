// The packages on a machine with a real systemd: installed, reloaded, watched, upgraded under a 1 kHz probe through the
// router, and removed. cnpd has everything there but a routing daemon.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atLeast, matches, until } from '../support/until.ts';
import { FORMER, formerPackage } from './former.ts';
import { Machine, TRIXIE, prepareSystem } from './machine.ts';
import { programOf, takesCompiled } from './node-in-use.ts';
import { run, tryRun } from '../support/run.ts';

const FOLDER = resolve('out/package-test');
/** What the machine sees under /packages. */
const PACKAGES = join(FOLDER, 'packages');

let machine: Machine;
let tarball: string, current: string, nodejs: string, next: string, former: string;

beforeAll(async () => {
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES, { recursive: true });
  const made = run('bash', 'src/setup/package/package.sh', '--out', PACKAGES);
  [tarball, current, nodejs] = [...made.matchAll(/^package: (\/.*)$/gm)].map(([, path]) => path!) as [
    string,
    string,
    string,
  ];
  const newer = run(
    'node',
    'src/setup/package/package.mjs',
    '--out',
    PACKAGES,
    '--only',
    'cnpd',
    '--version',
    `${versionOf(current)}+next`,
  );
  next = /^package: (.*\.deb)$/m.exec(newer)![1]!;
  former = formerPackage(PACKAGES);
  copyFileSync('test/package/probe.mjs', join(PACKAGES, 'probe.mjs'));
  machine = await Machine.boot(prepareSystem(FOLDER, TRIXIE), PACKAGES);
  machine.shell(NETWORK);
});
afterAll(() => machine?.off());

/** h1 – this router – h2. The port to h2 is watched. */
const NETWORK = `
sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.conf.default.accept_dad=0
ip link set lo up
ip addr add 2001:db8:ffff::1/128 dev lo
for n in 1 2; do
  ip netns add h$n
  ip link add eth$n type veth peer name eth0 netns h$n
  ip link set eth$n up
  ip addr add 2001:db8:$n::1/64 dev eth$n nodad
  ip -n h$n link set lo up
  ip -n h$n link set eth0 up
  ip -n h$n addr add 2001:db8:$n::2/64 dev eth0 nodad
  ip -n h$n route add default via 2001:db8:$n::1
  ethtool -K eth$n tx off >/dev/null
done
tc qdisc add dev eth2 root tbf rate 100mbit burst 20kb limit 200kb
`;
const INTENT = `
router: { name: r1, loopback: { ipv6: 2001:db8:ffff::1 } }
proxy:
  address: 2001:db8:ffff::1
  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]
  accept-from: [2001:db8:ffff::/48]
  interfaces: [eth1]
ports: [{ interface: eth2, k-min: 50kB, k-max: 100kB }]
`;

/** In the header of an ELF file. */
const [ELF_MACHINE, EM_AARCH64] = [18, 183];

const versionOf = (deb: string): string => run('dpkg-deb', '-f', deb, 'Version');
const install = (deb: string): string => machine.run('dpkg', '-i', `/packages/${basename(deb)}`);
const property = (name: string): string => machine.run('systemctl', 'show', 'cnpd', '-p', name, '--value');
const status = (): Record<string, unknown> =>
  JSON.parse(machine.run('cnpctl', '-o', 'json', 'show', 'status')) as Record<string, unknown>;
const configure = (text: string): string => machine.shell(`cat > /etc/cnpd/cnpd.yaml <<'EOF'\n${text}EOF\n`);

const inBackground = (netns: string, ...argv: string[]): string =>
  machine.shell(`ip netns exec ${netns} ${argv.join(' ')} >/dev/null 2>&1 & echo $!`);
const report = <T>(file: string): T | undefined => {
  const { status, output } = machine.try('cat', file);
  return status === 0 && output !== '' ? (JSON.parse(output) as T) : undefined;
};

/** Packets from h1 to h2, a thousand a second, while `during` runs. */
async function probed(during: () => void | Promise<void>): Promise<{ sent: number; lost: number; seconds: number }> {
  machine.run('rm', '-f', '/run/sent', '/run/received');
  const received = (): number => report<{ received: number }>('/run/received')?.received ?? 0;
  const receiver = inBackground('h2', 'node', '/packages/probe.mjs', 'receive', '/run/received');
  await until('the receiver is there', () => report('/run/received'));
  const sender = inBackground('h1', 'node', '/packages/probe.mjs', 'send', '2001:db8:2::2', '/run/sent');
  await until('the probe runs', received, atLeast(100));
  await during();
  machine.run('kill', sender);
  const { sent, seconds } = await until('the sender has ended', () =>
    report<{ sent: number; seconds: number }>('/run/sent'),
  );
  // Those that are on their way, or wait at the receiver.
  await until('the last packets', received, atLeast(sent), 3000).catch(() => undefined);
  machine.run('kill', receiver);
  return { sent, seconds, lost: sent - received() };
}

const shown = ({ sent, seconds, lost }: { sent: number; seconds: number; lost: number }): string =>
  `${sent} packets in ${seconds.toFixed(1)} s, ${lost} lost`;

/** None is lost, and there were enough of them to notice a gap of a few milliseconds. */
async function upgradeWithoutLoss(deb: string): Promise<void> {
  const before = property('MainPID');
  const probe = await probed(async () => {
    install(deb);
    await until(
      'the new version runs',
      () => property('StatusText'),
      (text) => text === 'running',
    );
  });
  console.log(`upgrade to ${versionOf(deb)}: ${shown(probe)}`);
  expect(probe.sent / probe.seconds).toBeGreaterThan(900);
  expect(probe.lost).toBe(0);
  expect(property('MainPID')).not.toBe(before);
  expect(status()).toMatchObject({ adopted: true, pid: Number(property('MainPID')) });
  expect(machine.run('cnpctl', 'show', 'ports')).toMatch(/^eth2 +yes/m);
}

describe('the npm tarball', () => {
  test('installs global programs, and koffi alone beside them', () => {
    const prefix = join(tmpdir(), `cnpd-npm-${process.pid}`);
    try {
      run('npm', 'install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, tarball);
      expect(readdirSync(join(prefix, 'bin')).sort()).toEqual(['cnpctl', 'cnpd']);
      expect(run(join(prefix, 'bin/cnpd'), 'check', 'containerlab/proxy/leaf1/cnpd.yaml')).toContain('ok');
      // Loads koffi.
      expect(tryRun(join(prefix, 'bin/cnpctl'), 'doctor').output).toContain('kernel');
      const modules = join(prefix, 'lib/node_modules/cnpd/node_modules');
      expect(
        readdirSync(modules)
          .filter((name) => !name.startsWith('.'))
          .sort(),
      ).toEqual(['@koromix', 'koffi']);
      expect(existsSync(join(prefix, 'lib/node_modules/cnpd/dist/lab.js'))).toBe(false);
    } finally {
      rmSync(prefix, { recursive: true, force: true });
    }
  });
});

describe('the Debian package', () => {
  test('is made for arm64 too, with the library of that processor, and lintian objects to nothing', () => {
    const made = run('bash', 'src/setup/package/package.sh', '--out', PACKAGES, '--only', 'cnpd', 'arm64');
    const deb = /^package: (.*_arm64\.deb)$/m.exec(made)![1]!;
    expect(made).toContain('lintian has nothing to object');
    const root = join(PACKAGES, 'arm64');
    run('dpkg-deb', '-x', deb, root);
    const modules = join(root, 'usr/lib/cnpd/node_modules/@koromix');
    expect(readdirSync(modules)).toEqual(['koffi-linux-arm64']);
    const library = readFileSync(join(modules, 'koffi-linux-arm64/linux_arm64/koffi.node'));
    expect(library.readUInt16LE(ELF_MACHINE)).toBe(EM_AARCH64);
  });

  test('the former version runs, with its programs at the port', async () => {
    install(former);
    machine.run('mkdir', '-p', '/etc/cnpd');
    configure(INTENT);
    machine.run('systemctl', 'enable', '--now', 'cnpd');
    await until('it runs', () => machine.try('cnpctl', 'show', 'status').output, matches(/version +0\.4\.0/));
    await until('it watches', () => machine.try('cnpctl', 'show', 'ports').output, matches(/^eth2 +yes/m));
    expect(versionOf(former)).toBe(FORMER.version);
  });

  test('the probe notices a router that forwards nothing for a moment', async () => {
    const off = 'sysctl -qw net.ipv6.conf.all.forwarding=0; sleep 0.1; sysctl -qw net.ipv6.conf.all.forwarding=1';
    expect((await probed(() => void machine.shell(off))).lost).toBeGreaterThan(0);
  });

  test('is upgraded from the former version: no packet is lost, and what is in the kernel is adopted', async () => {
    await upgradeWithoutLoss(current);
    expect(property('Type')).toBe('notify');
    expect(machine.run('cat', '/etc/cnpd/cnpd.yaml')).toContain('2001:db8:ffff::1');
  });

  test('is upgraded to the next version: the same', () => upgradeWithoutLoss(next));

  test('cnpd has the smallest set of capabilities, no new privileges, and a filter of system calls', () => {
    const lines = machine.run('cat', `/proc/${property('MainPID')}/status`);
    // CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN.
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(lines).toMatch(new RegExp(`${set}:\t0+203400\n`));
    expect(lines).toMatch(/NoNewPrivs:\t1\n(.*\n)*Seccomp:\t2\n/);
    const exposure = /exposure level for cnpd\.service: ([\d.]+)/.exec(
      machine.run('systemd-analyze', 'security', '--no-pager', 'cnpd.service'),
    );
    console.log(`systemd-analyze security: ${exposure?.[1]}`);
    expect(Number(exposure?.[1])).toBeLessThanOrEqual(4.5);
  });

  test('systemctl reload waits until the file is in force, and fails with its errors', () => {
    configure(INTENT.replace('k-max: 100kB', 'k-max: 120kB'));
    machine.run('systemctl', 'reload', 'cnpd');
    expect(machine.run('cnpctl', 'show', 'ports')).toContain('120000');
    configure(`${INTENT}nonsense: 1\n`);
    expect(machine.try('systemctl', 'reload', 'cnpd').status).not.toBe(0);
    expect(property('StatusText')).toMatch(/^running; the last reload was refused.*nonsense/);
    expect(property('ActiveState')).toBe('active');
    configure(INTENT);
    machine.run('systemctl', 'reload', 'cnpd');
    expect(property('StatusText')).toBe('running');
  });

  test('an event loop that hangs is noticed: systemd starts cnpd anew', async () => {
    machine.shell(`mkdir -p /run/systemd/system/cnpd.service.d
      printf '[Service]\\nWatchdogSec=2s\\n' > /run/systemd/system/cnpd.service.d/watchdog.conf
      systemctl daemon-reload
      systemctl restart cnpd`);
    const before = property('MainPID');
    // It is fed: twice the time passes without a restart.
    const fed = (): number => Number(property('WatchdogTimestampMonotonic'));
    const first = fed();
    await until('the watchdog was fed for twice its time', () => fed() - first > 4_000_000);
    expect(property('MainPID')).toBe(before);
    machine.run('kill', '-STOP', before);
    await until(
      'a new process runs',
      () => property('MainPID'),
      (pid) => pid !== before && pid !== '0',
    );
    await until(
      'it is in force',
      () => property('StatusText'),
      (text) => text === 'running',
    );
    expect(property('NRestarts')).toBe('1');
    machine.shell('rm -r /run/systemd/system/cnpd.service.d; systemctl daemon-reload');
  });

  test('has manual pages, and completion in bash, zsh and fish', () => {
    for (const page of ['cnpd', 'cnpctl'])
      expect(machine.run('man', '--warnings', '-P', 'cat', '8', page)).toContain('EXIT STATUS');
    const bash = `. /usr/share/bash-completion/completions/cnpctl
      COMP_WORDS=(cnpctl show b) COMP_CWORD=2; _cnpctl; echo "\${COMPREPLY[*]}"`;
    expect(machine.run('bash', '-c', bash)).toBe('bgp');
    expect(machine.run('fish', '-c', 'complete -C "cnpctl show b"')).toMatch(/^bgp\t/);
    expect(machine.run('fish', '-c', 'complete -C "cnpctl -o j"')).toMatch(/^json\t/);
    const zsh =
      'autoload -Uz compinit && compinit -u -D && echo $_comps[cnpctl] $_comps[cnpd] && zsh -n $^fpath/_cnpctl(N)';
    expect(machine.run('zsh', '-fc', zsh)).toBe('_cnpctl _cnpd');
  });

  test('a stop leaves forwarding and notification; the removal leaves nothing in the kernel', async () => {
    machine.run('systemctl', 'stop', 'cnpd');
    expect(machine.run('ls', '/run/cnpd/bpf/links')).toContain('egress@eth2');
    machine.run('systemctl', 'start', 'cnpd');
    const probe = await probed(() => void machine.run('dpkg', '-r', 'cnpd'));
    console.log(`removal: ${shown(probe)}`);
    expect(probe.lost).toBe(0);
    expect(machine.try('ls', '/run/cnpd').status).not.toBe(0);
    expect(machine.try('findmnt', '-n', '-o', 'TARGET', '-t', 'bpf').output).toBe('');
    expect(machine.run('ls', '/etc/cnpd')).toBe('cnpd.yaml');
  });

  test('a purge removes the configuration too, and recordings', () => {
    machine.shell('mkdir -p /var/lib/cnpd/recordings && touch /var/lib/cnpd/recordings/cnpd.jsonl');
    machine.run('dpkg', '--purge', 'cnpd');
    expect(machine.try('ls', '/etc/cnpd').status).not.toBe(0);
    expect(machine.try('ls', '/var/lib/cnpd').status).not.toBe(0);
  });

  test('a first installation runs, named after the router, with everything off', () => {
    install(current);
    expect(property('StatusText')).toBe('running');
    expect(machine.run('cat', '/etc/cnpd/cnpd.yaml')).toMatch(/name: .r1./);
    expect(status()).toMatchObject({ health: 'running', adopted: false });
  });

  test('runs with the Node.js of Debian 13, also where cnpd-nodejs is installed beside it', () => {
    install(nodejs);
    machine.run('systemctl', 'restart', 'cnpd');
    expect(programOf(machine)).toBe('/usr/bin/node');
    expect(takesCompiled(machine, 'cnpd')).toBe(true);
    machine.run('dpkg', '--purge', 'cnpd-nodejs');
  });

  test('compiles its programs anew when Node.js is another one', () => {
    const compiled = (): string => machine.shell('stat -c %i /usr/lib/cnpd/dist/chunk/cnpd-*.compiled');
    const before = compiled();
    machine.run('dpkg-trigger', '--by-package=nodejs', '/usr/bin/node');
    machine.run('dpkg', '--configure', '--pending');
    expect(compiled()).not.toBe(before);
    expect(property('StatusText')).toBe('running');
    machine.run('dpkg', '--purge', 'cnpd');
    expect(machine.try('ls', '/usr/lib/cnpd').status).not.toBe(0);
  });
});
