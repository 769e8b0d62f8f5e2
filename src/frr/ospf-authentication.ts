// Whether FRR and cnpd sign and accept alike on an area's link: each must accept what the other signs with, and which of several keys FRR signs with is
// its own choice. Lines are given for what the interface alone needs. A key chain may serve others, and is said; so is the key of
// OSPFv3, because it cannot be taken back: ospf6d 8.4.4 ends when a key is removed and set again.
import { mend, type Finding } from './finding.ts';
import { type FrrKey, type OspfInterfaceConfig, type OspfVersionNumber, authenticationOf } from './ospf-config.ts';
import { type RunningConfig } from './running-config.ts';

interface Wanted {
  readonly areaId: number;
  readonly interface: string;
  readonly keys: readonly FrrKey[];
}

const sameKey = (a: FrrKey, b: FrrKey): boolean => a.id === b.id && a.algorithm === b.algorithm && a.key === b.key;

/** @param where the area in cnpd.yaml, such as `ospfv2.areas[0]` */
export function authenticationProblem(config: RunningConfig, version: OspfVersionNumber, link: OspfInterfaceConfig, { areaId, interface: name, keys }: Wanted, where: string): Finding | undefined {
  const has = authenticationOf(config, version, link, areaId);
  const yaml = `${where}.authentication in cnpd.yaml`;
  if (has.kind === 'other') return { problem: `FRR authenticates ${name} by ${has.text}, cnpd does not`, remedy: `take that authentication out of interface ${name} in FRR` };
  if (has.kind === 'none') return keys.length === 0 ? undefined : giveKey(`cnpd.yaml has ${where}.authentication, FRR authenticates nothing on ${name}`, version, name, keys[0]!);
  if (keys.length === 0) return { problem: `FRR authenticates ${name}, cnpd.yaml has no ${where}.authentication`, remedy: `give ${yaml} FRR's keys` };
  const unsigned = has.keys.find((key) => !keys.some((own) => sameKey(own, key)));
  if (!has.keys.some((key) => sameKey(key, keys[0]!))) {
    const problem = `FRR does not accept key ${keys[0]!.id} (${keys[0]!.algorithm}) on ${name}, with which cnpd signs`;
    // Another key under this ID has to go first, which the neighbours on other links need not notice; a chain may be theirs as well.
    const free = has.kind === 'keys' && version === 2 && !has.keys.some((key) => key.id === keys[0]!.id);
    return free ? giveKey(problem, version, name, keys[0]!) : { problem, remedy: `give FRR and ${yaml} the same keys` };
  }
  return unsigned && { problem: `FRR may sign with key ${unsigned.id} (${unsigned.algorithm}) on ${name}, which cnpd does not accept`, remedy: `add it to ${yaml}` };
}

function giveKey(problem: string, version: OspfVersionNumber, name: string, { id, algorithm, key }: FrrKey): Finding {
  const context = `interface ${name}`;
  if (version === 3) {
    return { problem, remedy: `vtysh -c 'configure terminal' -c '${context}' -c 'ipv6 ospf6 authentication key-id ${id} hash-algo ${algorithm} key <key>'` };
  }
  if (algorithm !== 'md5') return { problem, remedy: `ospfd 8.4 has MD5 alone; a later one takes a key chain with ${algorithm}: ip ospf authentication key-chain` };
  return mend(problem, [
    { context, line: `ip ospf message-digest-key ${id} md5 ${key}`, undo: `no ip ospf message-digest-key ${id}`, secret: key },
    { context, line: 'ip ospf authentication message-digest', undo: 'no ip ospf authentication' },
  ]);
}
