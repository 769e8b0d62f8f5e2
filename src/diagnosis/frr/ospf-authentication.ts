// Whether FRR and cnpd sign and accept OSPF packets alike on an area's link. Each must accept what the other signs, and
// with several keys FRR itself chooses the one that it signs with. Lines are given only for what concerns the interface
// alone. A key chain may serve other interfaces, so it is only reported. So is the key of OSPFv3, which cannot be
// changed back: ospf6d 8.4.4 exits when a key is removed and set again.
import type { FrrCrypto } from '../../frr/frr-facts.ts';
import { isAtLeast } from '../version.ts';
import { type Finding, mend } from './finding.ts';
import {
  type FrrKey,
  type OspfInterfaceConfig,
  type OspfVersionNumber,
  authenticationOf,
} from '../../frr/ospf-config.ts';
import { type RunningConfig } from '../../frr/running-config.ts';

interface Wanted {
  readonly areaId: number;
  readonly interface: string;
  readonly keys: readonly FrrKey[];
}

const sameKey = (a: FrrKey, b: FrrKey): boolean => a.id === b.id && a.algorithm === b.algorithm && a.key === b.key;

/** What FRR reports about itself, as far as it decides which keys it supports. */
interface Built {
  readonly version?: string;
  readonly crypto?: FrrCrypto;
}

/** FRR has these hash functions built in; the others need OpenSSL. */
const INTERNAL_ALGORITHMS: ReadonlySet<string> = new Set(['md5', 'hmac-sha-256']);

/** @param where the area in cnpd.yaml, such as `ospfv2.areas[0]` */
export function authenticationProblem(
  { config, built }: { readonly config: RunningConfig; readonly built: Built },
  version: OspfVersionNumber,
  link: OspfInterfaceConfig,
  { areaId, interface: name, keys }: Wanted,
  where: string,
): Finding | undefined {
  const has = authenticationOf(config, version, link, areaId);
  const yaml = `${where}.authentication in cnpd.yaml`;
  if (has.kind === 'other')
    return {
      code: 'authentication-other',
      problem: `FRR authenticates ${name} by ${has.text}, cnpd does not`,
      remedy: `remove that authentication from interface ${name} in FRR`,
    };
  if (has.kind === 'none') {
    const problem = `cnpd.yaml has ${where}.authentication, FRR authenticates nothing on ${name}`;
    const lacking = { code: 'key-only-in-cnpd', problem } as const;
    return keys.length === 0 ? undefined : giveKey(lacking, version, name, keys[0]!, built, yaml);
  }
  if (keys.length === 0)
    return {
      code: 'key-only-in-frr',
      problem: `FRR authenticates ${name}, cnpd.yaml has no ${where}.authentication`,
      remedy: `set ${yaml} to FRR's keys`,
    };
  const unsigned = has.keys.find((key) => !keys.some((own) => sameKey(own, key)));
  if (!has.keys.some((key) => sameKey(key, keys[0]!))) {
    const { id, algorithm } = keys[0]!;
    const problem = `FRR does not accept key ${id} (${algorithm}) on ${name}, with which cnpd signs`;
    const differ = { code: 'keys-differ', problem } as const;
    // Another key with this ID has to be removed first, without the neighbors on other links noticing; a key chain may
    // serve those links as well.
    const free = has.kind === 'keys' && version === 2 && !has.keys.some((key) => key.id === keys[0]!.id);
    if (free || !canHave(built, version, keys[0]!)) return giveKey(differ, version, name, keys[0]!, built, yaml);
    return { ...differ, remedy: `give FRR and ${yaml} the same keys` };
  }
  return (
    unsigned && {
      code: 'keys-differ',
      problem: `FRR may sign with key ${unsigned.id} (${unsigned.algorithm}) on ${name}, which cnpd does not accept`,
      remedy: `add it to ${yaml}`,
    }
  );
}

/** Since 9.1 `ip ospf authentication` takes a key chain, which may have other algorithms than MD5. */
const hasKeyChains = ({ version }: Built): boolean => isAtLeast(version, [9, 1]);

/** Whether this FRR supports the key's algorithm; assumed for an unknown build. */
function canHave(built: Built, version: OspfVersionNumber, { algorithm }: FrrKey): boolean {
  if (version === 2 && algorithm !== 'md5' && !hasKeyChains(built)) return false;
  return built.crypto !== 'internal' || INTERNAL_ALGORITHMS.has(algorithm);
}

function giveKey(
  { code, problem }: Pick<Finding, 'code' | 'problem'>,
  version: OspfVersionNumber,
  name: string,
  own: FrrKey,
  built: Built,
  yaml: string,
): Finding {
  const { id, algorithm, key } = own;
  const context = `interface ${name}`;
  if (!canHave(built, version, own)) {
    const old = version === 2 && !hasKeyChains(built);
    const reason = old
      ? `ospfd ${built.version ?? ''} signs with MD5 only`
      : `this FRR was built without OpenSSL and has no ${algorithm}`;
    return {
      code: 'key-unsupported',
      problem: `${problem}; ${reason}`,
      remedy: `set ${yaml} to a key with ${old ? 'md5' : 'hmac-sha-256'}, on all routers of the area's link`,
    };
  }
  if (version === 3) {
    return {
      code,
      problem,
      remedy:
        `vtysh -c 'configure terminal' -c '${context}' -c 'ipv6 ospf6 authentication key-id ${id} hash-algo ` +
        `${algorithm} key <key>'`,
    };
  }
  if (algorithm !== 'md5') return { code, problem, remedy: keyChain(context, own) };
  return mend(code, problem, [
    {
      context,
      line: `ip ospf message-digest-key ${id} md5 ${key}`,
      undo: `no ip ospf message-digest-key ${id}`,
      secret: key,
    },
    { context, line: 'ip ospf authentication message-digest', undo: 'no ip ospf authentication' },
  ]);
}

const keyChain = (context: string, { id, algorithm }: FrrKey): string =>
  `vtysh -c 'configure terminal' -c 'key chain cnpd' -c 'key ${id}' -c 'key-string <key>' ` +
  `-c 'cryptographic-algorithm ${algorithm}' -c '${context}' -c 'ip ospf authentication key-chain cnpd'`;
