// The FRR side against real zebra and isisd: what they say is what the preconditions read, and what configureFrr gives
// them they keep.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examineFrr } from '../../src/diagnosis/frr/examine.ts';
import { configureFrr, type ConfigureOptions, type RunCommand, runCommand } from '../../src/frr/configure.ts';
import { gatherFrrFacts } from '../../src/frr/frr-facts.ts';
import { checkFrr } from '../../src/diagnosis/frr/isis.ts';
import type { FrrExpectation } from '../../src/diagnosis/frr/isis-view.ts';
import { parseRunningConfig } from '../../src/frr/running-config.ts';
import { askDaemon, Vty, VTY_DEFAULTS, vtyPath } from '../../src/frr/vty.ts';
import { silentLog } from '../../src/model/log.ts';
import { FrrNamespace } from '../support/frr-namespace.ts';
import { is, until } from '../support/until.ts';

const WANT: FrrExpectation = {
  interface: 'cnpd-isis',
  levels: '2',
  systemId: Uint8Array.from([0, 0, 0, 0, 0xc0, 1]),
  area: Uint8Array.from([0x49, 0, 1]),
  mtu: 1500,
  authentication: {},
};

describe('FRR', () => {
  let frr: FrrNamespace;
  let options: ConfigureOptions;
  const printed: string[] = [];
  const run: RunCommand = (command, args, input) => runCommand(...frr.inside(command, args), input);
  const modules = { run, say: (line: string) => void printed.push(line), log: silentLog };
  const missing = async (want = WANT) =>
    checkFrr(await gatherFrrFacts(options, want.interface), want)
      .filter((check) => check.state === 'missing')
      .map((check) => check.id);
  /** The configuration but for blocks with nothing in them, which FRR makes whenever an interface is mentioned. */
  const running = () =>
    [...parseRunningConfig(frr.vtysh('show running-config isisd').output)].filter(([, lines]) => lines.length > 0);

  beforeAll(() => {
    frr = new FrrNamespace(`t-frr-${process.pid}`);
    options = { vtyDir: frr.vtyDir, save: false };
  });
  afterAll(async () => frr?.remove());

  test('the vty of a daemon answers with text and status', async () => {
    const [version, bogus] = await askDaemon(frr.vtyDir, 'isisd', ['show version', 'bogus']);
    expect(version).toMatchObject({ status: 0, text: expect.stringMatching(/^FRRouting \d+\.\d+/) });
    expect(bogus).toMatchObject({ status: 2, text: expect.stringContaining('Unknown command: bogus') });
  });

  test('a router without IS-IS misses the instance, and configure leaves that to the operator', async () => {
    expect(await missing()).toEqual(['frr.instance']);
    const outcome = await configureFrr(() => examineFrr(options, { isis: WANT }), options, modules);
    expect(outcome.applied).toEqual([]);
    expect(outcome.remaining[0]).toMatchObject({ id: 'frr.instance', remedy: expect.stringContaining('net') });
  });

  test('a router with IS-IS but nothing for cnpd misses exactly the lines that cnpd gives', async () => {
    expect(frr.vtysh('configure terminal', 'router isis core', 'net 49.0001.0000.0000.0001.00').status).toBe(0);
    expect(await missing()).toEqual(['frr.enabled', 'frr.point-to-point', 'frr.lsp-gen-interval']);
  });

  test('a line that FRR refuses is named, and those before it are taken back', async () => {
    const before = running();
    const want = { ...WANT, authentication: { interface: { key: 'two words' } } };
    const attempt = configureFrr(() => examineFrr(options, { isis: want }), options, modules);
    await expect(attempt).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/isis password md5 <key>.*Unknown command.*3 before it were rolled back/),
    });
    await expect(attempt).rejects.not.toMatchObject({ message: expect.stringContaining('two words') });
    expect(running()).toEqual(before);
  });

  test('a dry run shows the lines and changes nothing', async () => {
    const before = running();
    printed.length = 0;
    await configureFrr(() => examineFrr(options, { isis: WANT }), { ...options, dryRun: true }, modules);
    expect(printed).toEqual([
      'interface cnpd-isis',
      ' ipv6 router isis core',
      ' isis network point-to-point',
      'router isis core',
      ' lsp-gen-interval level-2 1',
    ]);
    expect(running()).toEqual(before);
  });

  test('configure applies the lines, nothing is missing then, and a second time there is nothing to do', async () => {
    const outcome = await configureFrr(() => examineFrr(options, { isis: WANT }), options, modules);
    expect(outcome.applied).toHaveLength(3);
    expect(outcome.remaining).toEqual([]);
    expect(running()).toContainEqual(['interface cnpd-isis', ['ipv6 router isis core', 'isis network point-to-point']]);
    expect(await configureFrr(() => examineFrr(options, { isis: WANT }), options, modules)).toEqual({
      applied: [],
      remaining: [],
    });
    const [detail] = await askDaemon(frr.vtyDir, 'isisd', ['show isis interface detail']);
    expect(detail!.text).toMatch(/cnpd-isis, State: Up, Active[^]*Type: p2p/);
  });

  test('the startup configuration is written only when asked', async () => {
    expect(frr.startupConfig()).toBeUndefined();
    frr.integrateConfig();
    await configureFrr(() => examineFrr(options, { isis: WANT }), { ...options, save: true }, modules);
    expect(frr.startupConfig()).toContain('ipv6 router isis core');
  });

  describe('cnpctl doctor without a running cnpd', () => {
    const doctor = (yaml: string) => {
      const { status, items } = frr.doctor(yaml);
      return { status, of: (id: string) => items.filter((item) => item.id === id || item.id.startsWith(`${id}.`)) };
    };
    const ROUTER =
      'router: { name: leaf1, loopback: { ipv6: 2001:db8:ffff::1 } }\n' +
      'isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }\n';

    test('finds FRR and the kernel in order, and names the port without TBF or HTB root with the line that mends it', () => {
      const { status, of } = doctor(`${ROUTER}ports:\n  - { interface: peer, k-max: 100kB }\n`);
      expect(status).toBe(1);
      expect(of('cnpd')).toMatchObject([{ state: 'missing', remedy: 'systemctl start cnpd' }]);
      expect(of('config')).toMatchObject([{ state: 'ok' }]);
      expect(of('kernel.btf')).toMatchObject([{ state: 'ok' }]);
      expect(of('ports').map((item) => item.remedy)).toContainEqual(
        expect.stringContaining('tc qdisc replace dev peer root tbf'),
      );
      expect(new Set(of('frr').map((item) => item.state))).toEqual(new Set(['ok']));
    });

    test('a file with errors is an item, and the kernel is examined all the same', () => {
      const { status, of } = doctor('router: { nam: leaf1 }\n');
      expect(status).toBe(1);
      expect(of('config')).toMatchObject([{ state: 'missing', remedy: expect.stringContaining('cnpd check') }]);
      expect(of('kernel.btf')).toMatchObject([{ state: 'ok' }]);
    });

    test('what is missing in FRR comes with the line', () => {
      frr.vtysh('configure terminal', 'interface cnpd-isis', 'isis passive');
      expect(doctor(ROUTER).of('frr.active')).toMatchObject([
        { state: 'missing', remedy: expect.stringContaining("-c 'no isis passive'") },
      ]);
      frr.vtysh('configure terminal', 'interface cnpd-isis', 'no isis passive');
    });
  });

  // What an operator does to FRR → the precondition that is missing, and whether configure can mend it.
  const cases: [string, string[], string, boolean][] = [
    ['passive', ['interface cnpd-isis', 'isis passive'], 'frr.active', true],
    [
      'a circuit of the other level',
      ['interface cnpd-isis', 'no isis passive', 'isis circuit-type level-1'],
      'frr.level',
      true,
    ],
    ['no three-way handshake', ['interface cnpd-isis', 'no isis three-way-handshake'], 'frr.three-way', true],
    ['a password', ['interface cnpd-isis', 'isis password md5 SECRET'], 'frr.authentication-interface', false],
  ];
  for (const [name, lines, id, mended] of cases) {
    test(`${name} is seen as ${id}${mended ? ' and mended' : ''}`, async () => {
      expect(frr.vtysh('configure terminal', ...lines)).toMatchObject({ status: 0 });
      expect(await missing()).toEqual([id]);
      const outcome = await configureFrr(() => examineFrr(options, { isis: WANT }), options, modules);
      expect(outcome.remaining.map((check) => check.id)).toEqual(mended ? [] : [id]);
    });
  }

  test('the same keys on both sides are accepted, SNP authentication included', async () => {
    frr.vtysh('configure terminal', 'router isis core', 'domain-password md5 KEY authenticate snp validate');
    expect(
      await missing({ ...WANT, authentication: { interface: { key: 'SECRET' }, domain: { key: 'KEY' } } }),
    ).toEqual([]);
    expect(await missing({ ...WANT, authentication: { interface: { key: 'OTHER' }, domain: { key: 'KEY' } } })).toEqual(
      ['frr.authentication-interface'],
    );
    frr.vtysh(
      'configure terminal',
      'router isis core',
      'no domain-password',
      'exit',
      'interface cnpd-isis',
      'no isis password',
    );
    expect(await missing()).toEqual([]);
  });

  test('an interface that is too small, down or gone is seen', async () => {
    frr.ip('link', 'set', 'cnpd-isis', 'mtu', '1400');
    await until('the MTU is seen', missing, is(['frr.mtu']));
    frr.ip('link', 'set', 'cnpd-isis', 'mtu', '1500');
    frr.ip('link', 'set', 'cnpd-isis', 'down');
    await until('that it is down', missing, is(['frr.interface']));
    frr.ip('link', 'del', 'cnpd-isis');
    await until('that it is gone', async () => (await gatherFrrFacts(options, 'cnpd-isis')).link, is(null));
  });

  test('isisd that stops is reported, an open connection ends with `closed`, and a new isisd is found again', async () => {
    const vty = await Vty.open(vtyPath(frr.vtyDir, 'isisd'), { ...VTY_DEFAULTS, timeoutMs: 2_000 });
    await frr.stop('isisd');
    await expect(vty.command('show version')).rejects.toMatchObject({ code: 'closed' });
    expect(await missing()).toEqual(['frr.isisd']);
    frr.start('isisd');
    await until('isisd answers', missing, is(['frr.instance']));
  });

  test('a long reply arrives whole', async () => {
    const interfaces = Array.from({ length: 600 }, (_, i) => `big${i}`);
    // In portions: a command that takes long is killed.
    for (let at = 0; at < interfaces.length; at += 50) {
      const lines = interfaces.slice(at, at + 50).map((name) => `interface ${name}\n description ${'x'.repeat(200)}\n`);
      expect(await run('vtysh', ['--vty_socket', frr.vtyDir, '-f', '/dev/stdin'], lines.join(''))).toMatchObject({
        status: 0,
      });
    }
    const { config } = await gatherFrrFacts(options, 'cnpd-isis');
    expect(interfaces.filter((name) => config!.get(`interface ${name}`)?.[0]?.length !== 212)).toEqual([]);
  });
});
