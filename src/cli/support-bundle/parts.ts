// The parts of a support bundle: the file of each, and how it is got.
import type { NorthboundClient } from '../../northbound/client.ts';
import { SECTIONS } from '../../northbound/schema.ts';
import type { Check } from '../../model/problem.ts';
import { maskedIntent } from './mask.ts';
import { type BundleSources, PART_BYTES, type Part, RECORDING_BYTES } from './sources.ts';

export interface Wanted {
  readonly file: string;
  readonly get: () => Promise<Part> | Part;
  /** A configuration: its secrets are looked for in all parts. */
  readonly hasSecrets?: boolean;
  /** Is left out if a secret is in it, since it is worth nothing with a mask. */
  readonly isExact?: boolean;
}

export interface PartsOf {
  readonly version: string;
  readonly configFile: string;
  readonly client: NorthboundClient;
  readonly sources: BundleSources;
  readonly examine: () => Promise<readonly Check[]>;
}

const json = (value: unknown): Part => ({ text: `${JSON.stringify(value ?? null, null, 2)}\n` });

const FRR: Readonly<Record<string, string>> = {
  version: 'show version',
  'running-config': 'show running-config',
  interfaces: 'show interface',
  'isis-neighbors': 'show isis neighbor detail',
  'isis-database': 'show isis database detail',
  'ospf-neighbors': 'show ip ospf neighbor detail',
  'ospf-database': 'show ip ospf database',
  'ospf-opaque': 'show ip ospf database opaque-area',
  'ospf6-neighbors': 'show ipv6 ospf6 neighbor detail',
  'ospf6-database': 'show ipv6 ospf6 database detail',
  'bgp-summary': 'show bgp summary',
  'bgp-ipv4': 'show bgp ipv4 unicast',
  'bgp-ipv6': 'show bgp ipv6 unicast',
};

/** By file: program and arguments. Routes of cnpd have its own protocol number. */
const KERNEL: Readonly<Record<string, readonly [string, ...string[]]>> = {
  uname: ['uname', '-a'],
  links: ['ip', '-s', '-d', 'link', 'show'],
  addresses: ['ip', 'address', 'show'],
  qdiscs: ['tc', '-s', '-d', 'qdisc', 'show'],
  'routes-4': ['ip', '-4', 'route', 'show', 'table', 'all', 'proto', '111'],
  'routes-6': ['ip', '-6', 'route', 'show', 'table', 'all', 'proto', '111'],
  rules: ['ip', '-6', 'rule', 'show'],
  'bpf-programs': ['bpftool', 'prog', 'show'],
  'bpf-maps': ['bpftool', 'map', 'show'],
  'bpf-links': ['bpftool', 'link', 'show'],
};

const LOG_LINES = '2000';

export function partsOf({ version, configFile, client, sources, examine }: PartsOf): Wanted[] {
  const exec = (file: string, program: string, ...args: string[]): Wanted => ({
    file,
    get: () => sources.run(program, args),
  });
  return [
    // First: their secrets are looked for in all others.
    { file: 'config/cnpd.yaml', get: () => sources.read(configFile, PART_BYTES), hasSecrets: true },
    ...Object.entries(FRR).map(([name, command]) => ({
      ...exec(`frr/${name}.txt`, 'vtysh', '-c', command),
      hasSecrets: name === 'running-config',
    })),
    {
      file: 'config/effective.json',
      get: async () => json(maskedIntent((await sources.configuration(configFile)).intent)),
    },
    { file: 'versions.json', get: () => json({ cnpctl: version, node: process.version, host: sources.hostname() }) },
    ...SECTIONS.map(({ name }) => ({
      file: `views/${name}.json`,
      get: async () => json(await client.get(['cnpd', name])),
    })),
    { file: 'views/record.json', get: async () => json(await client.record({ action: 'status' })) },
    { file: 'views/log-levels.json', get: async () => json(await client.logLevels([])) },
    { file: 'doctor.json', get: async () => json(await examine()) },
    { file: 'metrics.txt', get: () => metrics(configFile, sources) },
    ...[
      { file: 'log.txt', get: () => journal(sources) },
      exec('service.txt', 'systemctl', '--no-pager', 'status', 'cnpd'),
    ],
    ...Object.entries(KERNEL).map(([name, [program, ...args]]) => exec(`kernel/${name}.txt`, program, ...args)),
    { file: 'recording.jsonl', get: () => recording(sources), isExact: true },
  ];
}

async function journal(sources: BundleSources): Promise<Part> {
  const part = await sources.run('journalctl', ['--no-pager', '--quiet', '--unit', 'cnpd', '--lines', LOG_LINES]);
  if (part.text.trim() === '')
    throw new Error('the journal has no line of cnpd: the log is where the standard error of cnpd goes');
  return part;
}

async function metrics(configFile: string, sources: BundleSources): Promise<Part> {
  const { metrics: url } = await sources.configuration(configFile);
  if (url === undefined) throw new Error('cnpd.yaml has no metrics section: they are not served');
  return sources.fetch(url);
}

async function recording(sources: BundleSources): Promise<Part> {
  const path = await sources.newestRecording();
  if (path === undefined) throw new Error('there is no recording: `cnpctl record start` begins one');
  return sources.read(path, RECORDING_BYTES);
}
