// What is in a support bundle: the parts with their limits, what failed in the manifest, and no secret anywhere.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { failing, fakeCnpd, run as runCli } from '../fake-cnpd.fixture.ts';
import { MASK } from '../../model/masks.ts';
import type { Check } from '../../model/problem.ts';
import { exampleState } from '../../northbound/state.fixture.ts';
import { Secrets } from './mask.ts';
import { type BundleSources, PART_BYTES, type Part, fetchText, read, run, writeNew } from './sources.ts';

const directory = mkdtempSync(join(tmpdir(), 'cnpd-bundle-'));
afterAll(() => rmSync(directory, { recursive: true }));

const YAML = `router: { name: leaf1 }
isis: # old: { hmac-md5: Secret-comment-1 }
  authentication: { interface: { hmac-md5: Secret-yaml-1 }, domain: { "hmac-md5": "Secret yaml, 2" } }
ospfv2:
  areas:
    - authentication:
        - { key-id: 1, md5: Secret-yaml-3 }
        - { key-id: 2, hmac-sha-256: 'Secret-yaml-4' }
        - key-id: 3
          hmac-sha-512: >-
            Secret-yaml-5
        - { key-id: 4, md5: x#y }
        - key-id: 5
          md5: Secret-6,a}b # old
`;

const FRR = `hostname r1
password Secret-frr-1
enable password 8 Secret-frr-2
key chain wan
 key 1
  key-string Secret-frr-3
interface eth0
 isis password md5 Secret-frr-4
 ip ospf authentication-key Secret-frr-5
 ip ospf message-digest-key 1 md5 Secret-frr-6
 ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key Secret-frr-7
 ip rip authentication string Secret-frr-8
router isis wan
 area-password clear Secret-frr-9 authenticate snp validate
 domain-password md5 Secret-frr-10 authenticate snp send-only
router bgp 65001
 neighbor 192.0.2.1 password Secret-frr-11
 neighbor 2001:db8::1 password Secret frr 12
 neighbor 192.0.2.2 timers 3 9
router ospf
 area 1 virtual-link 192.0.2.9 message-digest-key 2 md5 Secret-frr-13
 area 1 virtual-link 192.0.2.9 authentication-key Secret-frr-14
snmp-server community Secret-frr-15 ro
mpls ldp
 neighbor 192.0.2.3 password Secret-frr-16
interface eth1
 ip nhrp authentication Secret-17
end
`;

const lines: { program: string; args: readonly string[] }[] = [];
function sources(rest: Partial<BundleSources> = {}): BundleSources {
  return {
    run: async (program, args) => {
      lines.push({ program, args });
      if (args.at(-1) === 'show running-config') return { text: FRR };
      if (program === 'bpftool') throw new Error('bpftool: not installed; Secret-frr-1');
      if (program === 'journalctl')
        return { text: 'isis: key Secret-frr-10 refused\nhex 5365637265742d66727 and Secret-yaml-5' };
      return { text: `${program} ${args.join(' ')}: Secret-yaml-1 ${Buffer.from('Secret-frr-3').toString('hex')}` };
    },
    read: (): Part => ({ text: YAML }),
    fetch: async () => ({ text: 'x'.repeat(PART_BYTES + 10) }),
    configuration: async () => ({
      intent: {
        isis: { authentication: { domain: { key: 'Secret-yaml-1' } } },
        ospfv2: { areas: [{ keys: [{ id: 1, key: 'Secret-yaml-3' }] }], big: 1n },
      },
      metrics: 'http://[::1]:9464/metrics',
    }),
    parseYaml: async (text) => parse(text) as unknown,
    newestRecording: async () => undefined,
    hostname: () => 'leaf1',
    writeNew,
    ...rest,
  };
}

const unpacked = async (path: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await unpackTar(gunzipSync(readFileSync(path)))).map(({ header, data }) => [
      header.name.replace(/^[^/]*\//, ''),
      Buffer.from(data!).toString(),
    ]),
  );

interface Manifest {
  readonly cnpd: string;
  readonly parts: { readonly file: string; readonly ok: boolean; readonly truncated?: true; readonly error?: string }[];
}
const manifestOf = (files: Record<string, string>): Manifest => JSON.parse(files['manifest.json']!) as Manifest;

let serial = 0;
async function bundle(
  client = fakeCnpd(exampleState()),
  rest: Partial<BundleSources> = {},
  checks: readonly Check[] = [],
  more = '',
) {
  const path = join(directory, `${serial++}.tar.gz`);
  const given = { bundleSources: async () => sources(rest), examine: async () => [...checks] };
  const result = await runCli(`support-bundle ${path} ${more}`.trim(), client, given);
  return { ...result, path };
}

test('no secret is in it, wherever it stood: cnpd.yaml, FRR, logs, errors, hexadecimal', async () => {
  const { path, code } = await bundle();
  expect(code).toBe(0);
  const files = await unpacked(path);
  const all = Object.values(files).join('\n');
  expect(all).not.toMatch(/secret[- ]/i);
  expect(all).not.toContain(Buffer.from('Secret-').toString('hex'));
  expect(all).toContain(MASK);
  // What is no secret stays.
  expect(files['frr/running-config.txt']).toContain(` domain-password md5 ${MASK} authenticate snp send-only`);
  expect(files['frr/running-config.txt']).toContain(' neighbor 192.0.2.2 timers 3 9');
  expect(files['config/cnpd.yaml']).toContain(`interface: { hmac-md5: ${MASK} }`);
  expect(files['config/cnpd.yaml']).toContain('key-id: 3');
  expect(files['config/cnpd.yaml']).not.toMatch(/#y|a}b/);
  expect(JSON.parse(files['config/effective.json']!)).toMatchObject({
    ospfv2: { big: '1', areas: [{ keys: [{ id: 1, key: MASK }] }] },
  });
});

test('JSON stays JSON: keys in the configuration of a view, and lines of FRR in what doctor says', async () => {
  const state = exampleState();
  const problem = 'FRR has isis password md5 Secret-frr-4, and cnpd.yaml has none';
  const check = { id: 'x', claim: 'keys agree', state: 'missing', problem, 'hmac-md5': 'Secret-view', qpn: 5 } as const;
  const { path } = await bundle(fakeCnpd(state), {}, [check]);
  const files = await unpacked(path);
  expect(JSON.parse(files['doctor.json']!)).toEqual([
    {
      id: 'x',
      claim: 'keys agree',
      state: 'missing',
      problem: `FRR has isis password md5 ${MASK}`,
      'hmac-md5': MASK,
      qpn: 5,
    },
  ]);
  for (const [name, text] of Object.entries(files)) if (name.endsWith('.json')) JSON.parse(text);
});

test('the configuration is the file of the running cnpd, unless one is named', async () => {
  const asked: string[] = [];
  const read = (file: string): Part => {
    asked.push(file);
    return { text: YAML };
  };
  const example = exampleState();
  const state = {
    ...example,
    status: { ...example.status, intent: { ...example.status.intent, file: '/other.yaml' } },
  };
  await bundle(fakeCnpd(state), { read });
  await bundle(fakeCnpd(state), { read }, [], '-c /mine.yaml');
  await bundle(failing('unreachable'), { read });
  expect(asked).toEqual(['/other.yaml', '/mine.yaml', '/etc/cnpd/cnpd.yaml']);
});

test('a file for the owner alone; one that is there is not replaced', async () => {
  const { path } = await bundle();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  serial--;
  const again = await bundle();
  expect([again.code, again.err]).toEqual([4, expect.stringContaining('EEXIST')]);
});

test('what fails, and what is too long, is in the manifest; the rest is there', async () => {
  const { path, out } = await bundle();
  const files = await unpacked(path);
  const { parts, cnpd } = manifestOf(files);
  const part = (file: string) => parts.find((one) => one.file === file);
  expect(cnpd).toBe('answers');
  expect(part('kernel/bpf-programs.txt')).toEqual({
    file: 'kernel/bpf-programs.txt',
    ok: false,
    error: `bpftool: not installed; ${MASK}`,
  });
  expect(part('recording.jsonl')).toMatchObject({ ok: false, error: expect.stringContaining('record start') });
  expect(part('metrics.txt')).toMatchObject({ ok: true, bytes: PART_BYTES, truncated: true });
  expect(out).toMatch(/^not in it: kernel\/bpf-programs\.txt, .*: bpftool: not installed/m);
  expect(parts.filter(({ file, ok }) => file.startsWith('views/') && !ok)).toEqual([]);
  expect(Object.keys(files).sort()).toEqual(
    ['manifest.json', ...parts.filter(({ ok }) => ok).map(({ file }) => file)].sort(),
  );
  expect((JSON.parse(files['views/isis.json']!) as { database: unknown[] }).database.length).toBeGreaterThan(0);
});

test('with cnpd down it says so, and has the rest', async () => {
  const { path, code, out, err } = await bundle(failing('unreachable'));
  expect([code, err]).toEqual([1, 'cnpctl: cnpd does not answer, its state is not in the bundle: because\n']);
  expect(out).toMatch(/^not in it: views\/status\.json, .*views\/ports\.json, .*: because$/m);
  const files = await unpacked(path);
  expect(manifestOf(files).cnpd).toBe('because');
  expect(manifestOf(files).parts.find(({ file }) => file === 'views/status.json')).toMatchObject({ ok: false });
  expect(files['frr/version.txt']).toContain('show version');
  expect(JSON.parse(files['doctor.json']!)).toEqual([]);
});

test('a recording is taken as it is, or not at all', async () => {
  const text = '{"format":"cnpd-recording"}\n';
  const newestRecording = async () => '/recording';
  const reading =
    (found: string) =>
    (path: string): Part => ({ text: path === '/recording' ? found : YAML });
  const clean = await bundle(fakeCnpd(exampleState()), { newestRecording, read: reading(text) });
  expect((await unpacked(clean.path))['recording.jsonl']).toBe(text);
  const leaky = await bundle(fakeCnpd(exampleState()), { newestRecording, read: reading(`${text}Secret-yaml-3`) });
  expect((await unpacked(leaky.path))['recording.jsonl']).toBeUndefined();
});

test('programs: what they print, why they fail, and an end to those that print for ever', async () => {
  expect(await run('sh', ['-c', 'echo yes'])).toEqual({ text: 'yes\n' });
  await expect(run('sh', ['-c', 'echo no >&2; exit 3'])).rejects.toThrow(/^no$/);
  await expect(run('/nowhere/program', [])).rejects.toThrow(/ENOENT/);
  const endless = await run('sh', ['-c', 'while :; do echo 0123456789012345678901234567890123456789; done']);
  expect([endless.truncated, endless.text.length]).toEqual([true, PART_BYTES]);
});

test('an address that answers with an error has failed', async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/metrics' ? 200 : 503).end('a text');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await fetchText(`${url}/metrics`)).toEqual({ text: 'a text' });
    await expect(fetchText(`${url}/other`)).rejects.toThrow(/other: 503 Service Unavailable$/);
  } finally {
    server.close();
  }
});

test('the beginning of a long file, and all of a short one', () => {
  const path = join(directory, 'long');
  writeFileSync(path, `${'a'.repeat(100_000)}end`);
  expect(read(path, 10)).toEqual({ text: 'aaaaaaaaaa', truncated: true });
  expect(read(path, 1 << 20).text).toHaveLength(100_003);
});

test('the key of probes is masked in a file that is no YAML, and a short one in the configuration', async () => {
  const broken = 'stamp: { targets: [::1\n  # hmac-key: probes-one\n  hmac-key: probes-two\n';
  const { path } = await bundle(fakeCnpd(exampleState()), {
    read: (): Part => ({ text: broken }),
    parseYaml: async () => undefined,
    configuration: async () => ({ intent: { stamp: { hmacKey: 'abc', port: 862 } } }),
  });
  const files = await unpacked(path);
  expect(files['config/cnpd.yaml']).not.toMatch(/probes-/);
  expect(JSON.parse(files['config/effective.json']!)).toEqual({ stamp: { hmacKey: MASK, port: 862 } });
});

test('short secrets are masked where they stand alone', () => {
  const secrets = new Secrets();
  secrets.learn('neighbor 192.0.2.1 password is');
  expect(secrets.mask('neighbor 192.0.2.1 password is\nthis is text')).toBe(
    `neighbor 192.0.2.1 password ${MASK}\nthis is text`,
  );
});

test('a journal without a line of cnpd is no log: it is named as not there', async () => {
  const empty: BundleSources['run'] = async (program) => ({ text: program === 'journalctl' ? '\n' : 'x' });
  const files = await unpacked((await bundle(undefined, { run: empty })).path);
  expect(files['log.txt']).toBeUndefined();
  expect(manifestOf(files).parts.find(({ file }) => file === 'log.txt')).toMatchObject({
    ok: false,
    error: expect.stringContaining('the standard error of cnpd'),
  });
});

test.each([
  ['hmac-md5:\n  Zq9Secret\nlevel: 2', `hmac-md5:\n  ${MASK}\nlevel: 2`],
  [
    '  - hmac-sha-256: >-\n        Zq9\n        Secret\n  - x: 1',
    `  - hmac-sha-256: ${MASK}\n        ${MASK}\n        ${MASK}\n  - x: 1`,
  ],
  ['? hmac-md5\n: Zq9Secret\nx: [', `? hmac-md5\n: ${MASK}\nx: [`],
  ['"password":  # of the noc\n\n  "Zq9Secret"\nx: 1', `"password":  ${MASK}\n\n  ${MASK}\nx: 1`],
  ['tacacs-server key Zq9Secret', `tacacs-server key ${MASK}`],
  [' vrrp 1 authentication Zq9Secret', ` vrrp 1 authentication ${MASK}`],
  ['md5:\nx: 1', 'md5:\nx: 1'],
])('a value on a line of its own is masked, also where the file is no YAML: %j', (text, masked) => {
  expect(new Secrets().mask(text)).toBe(masked);
  if (text === masked || text.includes('>-')) return;
  const secrets = new Secrets();
  secrets.learn(text);
  expect(secrets.mask('the log has Zq9Secret')).toBe(`the log has ${MASK}`);
});
