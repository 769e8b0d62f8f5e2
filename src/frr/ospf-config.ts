// FRR's running configuration of OSPF on one interface, and of the instance that it belongs to. ospfd and ospf6d differ
// in their words and in some defaults; here both become the same.
import { formatAddress, parseAddress } from '../model/address.ts';
import { type Prefix, parsePrefix } from '../model/prefix.ts';
import { type RunningConfig, argument } from './running-config.ts';

export type OspfVersionNumber = 2 | 3;

export interface FrrKey {
  readonly id: number;
  /** `md5`, `hmac-sha-256` …, as FRR writes it. */
  readonly algorithm: string;
  readonly key: string;
}

/** `none`; keys on the interface; keys in a key chain; something else, such as clear text. */
type FrrAuthentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'keys' | 'chain'; readonly keys: readonly FrrKey[] }
  | { readonly kind: 'other'; readonly text: string };

export interface OspfInterfaceConfig {
  /** 32 bits; undefined: OSPF is not enabled by a line of the interface. */
  readonly area: number | undefined;
  readonly pointToPoint: boolean;
  readonly passive: boolean;
  /** Seconds. */
  readonly hello: number;
  readonly dead: number;
  readonly mtuIgnore: boolean;
  /** OSPFv3 only: an MTU that is not the interface's, bytes. */
  readonly ifMtu: number | undefined;
  readonly instanceId: number;
  /** Without the area's authentication (authenticationOf). */
  readonly lines: readonly string[];
}

/** FRR's own, RFC 2328 §C.3. */
const DEFAULT_HELLO = 10;
const DEFAULT_DEAD = 40;

/** The words that the commands of an interface begin with. */
export const ospfWord = (version: OspfVersionNumber): string => (version === 2 ? 'ip ospf' : 'ipv6 ospf6');
/** The instance of the default VRF. */
export const ospfInstance = (version: OspfVersionNumber): string => (version === 2 ? 'router ospf' : 'router ospf6');

/** FRR accepts `1` and `0.0.0.1`, and shows what was entered. */
function parseArea(text: string | undefined): number | undefined {
  const id = text?.split(' ')[0];
  if (id === undefined || id === '') return undefined;
  if (/^\d{1,10}$/.test(id)) return Number(id);
  const address = parseAddress(id);
  return address?.family === 4 ? Number(address.value) : undefined;
}

export const formatArea = (area: number): string => formatAddress({ family: 4, value: BigInt(area) });

export function ospfInterface(config: RunningConfig, version: OspfVersionNumber, name: string): OspfInterfaceConfig {
  const word = ospfWord(version);
  const lines = config.get(`interface ${name}`) ?? [];
  const seconds = (command: string): number | undefined => number(argument(lines, `${word} ${command}`));
  const hello = seconds('hello-interval');
  return {
    area: parseArea(argument(lines, `${word} area`)),
    pointToPoint: argument(lines, `${word} network`)?.startsWith('point-to-point') === true,
    passive: lines.includes(`${word} passive`),
    hello: hello ?? DEFAULT_HELLO,
    // Only ospfd derives it from a configured hello interval.
    dead: seconds('dead-interval') ?? (version === 2 && hello !== undefined ? 4 * hello : DEFAULT_DEAD),
    mtuIgnore: lines.includes(`${word} mtu-ignore`),
    ifMtu: seconds('ifmtu'),
    instanceId: seconds('instance-id') ?? 0,
    lines,
  };
}

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;

/** `network PREFIX area A` of ospfd: with one of them FRR takes no `ip ospf area`. */
export function networkStatements(instance: readonly string[]): { readonly prefix: Prefix; readonly area: number }[] {
  return instance.flatMap((line) => {
    const match = /^network (\S+) area (\S+)/.exec(line);
    const [prefix, area] = [match && parsePrefix(match[1]!), parseArea(match?.[2])];
    return prefix && area !== undefined ? [{ prefix, area }] : [];
  });
}

/** Areas in which FRR has an interface other than `except`. */
export function areasOf(config: RunningConfig, version: OspfVersionNumber, except: ReadonlySet<string>): Set<number> {
  const named = [...config.keys()]
    .flatMap((header) => /^interface (\S+)/.exec(header)?.[1] ?? [])
    .filter((name) => !except.has(name));
  const areas = named.flatMap((name) => ospfInterface(config, version, name).area ?? []);
  return new Set([...areas, ...networkStatements(config.get(ospfInstance(version)) ?? []).map(({ area }) => area)]);
}

/** `stub` or `nssa`; undefined: an area like any other. */
export function areaType(instance: readonly string[], area: number): string | undefined {
  for (const line of instance) {
    const match = /^area (\S+) (stub|nssa)\b/.exec(line);
    if (match && parseArea(match[1]) === area) return match[2];
  }
  return undefined;
}

/** How FRR authenticates on an interface in an area. */
export function authenticationOf(
  config: RunningConfig,
  version: OspfVersionNumber,
  { lines }: OspfInterfaceConfig,
  area: number,
): FrrAuthentication {
  if (version === 3) return authentication3(config, lines);
  const ofArea = (config.get(ospfInstance(2)) ?? []).flatMap((line) => {
    const match = /^area (\S+) authentication(?: (message-digest))?$/.exec(line);
    return match && parseArea(match[1]) === area ? [match[2] ?? ''] : [];
  })[0];
  const method = argument(lines, 'ip ospf authentication') ?? ofArea;
  if (method === undefined || method === 'null') return { kind: 'none' };
  const chain = /^key-chain (\S+)/.exec(method)?.[1];
  if (chain !== undefined) return { kind: 'chain', keys: keyChain(config, chain) };
  if (method !== 'message-digest') return { kind: 'other', text: 'clear text' };
  const keys = lines.flatMap((line) => {
    const match = /^ip ospf message-digest-key (\d+) (md5) (\S+)/.exec(line);
    return match ? [{ id: Number(match[1]), algorithm: match[2]!, key: match[3]! }] : [];
  });
  return { kind: 'keys', keys };
}

function authentication3(config: RunningConfig, lines: readonly string[]): FrrAuthentication {
  const text = argument(lines, 'ipv6 ospf6 authentication');
  if (text === undefined) return { kind: 'none' };
  const chain = /^keychain (\S+)/.exec(text)?.[1];
  if (chain !== undefined) return { kind: 'chain', keys: keyChain(config, chain) };
  const match = /^key-id (\d+) hash-algo (\S+) key (\S+)/.exec(text);
  return match
    ? { kind: 'keys', keys: [{ id: Number(match[1]), algorithm: match[2]!, key: match[3]! }] }
    : { kind: 'other', text: text.split(' ')[0]! };
}

/** The keys of `key chain NAME`, in their order. Those that lack a string or an algorithm sign nothing. */
function keyChain(config: RunningConfig, name: string): FrrKey[] {
  const keys: { id: number; algorithm?: string; key?: string }[] = [];
  for (const line of config.get(`key chain ${name}`) ?? []) {
    const id = /^key (\d+)$/.exec(line)?.[1];
    if (id !== undefined) keys.push({ id: Number(id) });
    const [algorithm, key] = [/^cryptographic-algorithm (\S+)/.exec(line)?.[1], /^key-string (\S+)/.exec(line)?.[1]];
    Object.assign(keys.at(-1) ?? {}, algorithm !== undefined && { algorithm }, key !== undefined && { key });
  }
  return keys.filter((k): k is FrrKey => k.algorithm !== undefined && k.key !== undefined);
}
