// The result of one precondition of Holo, and the checks that its protocols share.
import type { HoloFindingCode } from '../../holo/check.ts';
import type { HoloFacts } from '../../holo/facts.ts';
import { type HoloKey, listed } from '../../holo/protocols.ts';
import { type Tree, leavesOf, merged } from '../../holo/tree.ts';
import { isAtLeast } from '../version.ts';

export interface Finding {
  readonly code: HoloFindingCode;
  readonly problem: string;
  /** In one line. */
  readonly remedy: string;
  readonly change?: Tree;
  /** Only an operator can tell whether it is right. */
  readonly warning?: true;
}

/** A finding that a change of Holo's configuration fixes. */
export const mend = (code: HoloFindingCode, problem: string, change: Tree): Finding => ({
  code,
  problem,
  remedy: `cnpd --configure, or in Holo's configuration: ${leavesOf(change).join(', ')}`,
  change,
});

/** One precondition. */
export interface Row<V> {
  readonly id: string;
  readonly claim: string;
  readonly check: (view: V) => Finding | undefined;
}

/** What became of it. */
export interface CheckedRow {
  readonly id: string;
  readonly claim: string;
  readonly finding: Finding | undefined | 'unknown';
}

/** An interface of cnpd's in a protocol of Holo. */
export interface InterfaceView {
  readonly name: string;
  readonly facts: HoloFacts;
  /** Empty where Holo has no such interface there. */
  readonly link: Tree;
  /** A change of the interface, as one of Holo's configuration. */
  readonly toChange: (config: Tree) => Tree;
}

/** Of interfaces that were never read from the kernel, and of those that came back under another number. */
const RELOAD = "restart holod, and load Holo's configuration while cnpd runs";

const OLDEST = [0, 9] as const;
export const VERSION_CLAIM = `Holo is ${OLDEST.join('.')} or newer`;

export const checkAnswer = ({ error }: HoloFacts, target: string): Finding | undefined =>
  error === undefined
    ? undefined
    : {
        code: 'daemon-silent',
        problem: `Holo does not answer at ${target} (${error})`,
        remedy: 'start holod with plugins.grpc enabled in /etc/holod.toml, or set router.holo.grpc to where it listens',
      };

export const checkVersion = ({ version = 'unknown' }: HoloFacts): Finding | undefined =>
  isAtLeast(version, OLDEST)
    ? undefined
    : { code: 'version-old', problem: `Holo is ${version}`, remedy: `install Holo ${OLDEST.join('.')} or newer` };

/** Whether Holo's configuration has the interface there. */
export const isNamed = ({ link }: InterfaceView): boolean => Object.keys(link).length > 0;

/** A finding that a change of the interface fixes. */
export const mendInterface = (view: InterfaceView, code: HoloFindingCode, what: string, config: Tree): Finding =>
  mend(code, `${view.name} ${what}`, view.toChange(config));

export const EXISTS: Row<InterfaceView> = {
  id: 'interface',
  claim: 'the interface exists',
  check: ({ name, facts }) =>
    facts.links.get(name)
      ? undefined
      : {
          code: 'interface-missing',
          problem: `there is no interface ${name}`,
          remedy: 'start cnpd, which creates it: systemctl start cnpd',
        },
};

/** @param what the protocol's word for what is at an interface */
export const pointToPoint = (what: 'circuit' | 'network'): Row<InterfaceView> => ({
  id: 'point-to-point',
  claim: 'the interface is point-to-point',
  check: (view) =>
    isNamed(view) && view.link['interface-type'] !== 'point-to-point'
      ? mendInterface(view, 'broadcast', `is a broadcast ${what} to Holo`, { 'interface-type': 'point-to-point' })
      : undefined,
});

export const ACTIVE: Row<InterfaceView> = {
  id: 'active',
  claim: 'the interface is not passive',
  check: (view) =>
    view.link['passive'] === true
      ? mendInterface(view, 'passive', 'is passive, so Holo sends no hello', { passive: false })
      : undefined,
};

/** Of an interface that the kernel has and Holo's configuration names. */
export const ALIVE: Row<InterfaceView> = {
  id: 'alive',
  claim: 'Holo uses the interface',
  check({ name, facts: { links, states } }) {
    if (!links.get(name) || states.get(name) !== 'down') return undefined;
    const problem = `${name} is up, but down to Holo: its configuration named the interface before the kernel had it`;
    return { code: 'interface-dead', problem, remedy: RELOAD };
  },
};

/**
 * Holo that learns of an interface from its configuration first never reads the interface's addresses: it is enabled
 * once it exists.
 */
export function notEnabled({ name, facts, toChange }: InterfaceView, protocol: string, config: Tree): Finding {
  const problem = `${protocol} is not enabled on ${name}`;
  const enabled = { enabled: true, 'interface-type': 'point-to-point', ...config };
  return facts.links.get(name)
    ? mend('not-enabled', problem, merged(listed(name), toChange(enabled)))
    : { code: 'not-enabled', problem, remedy: `start cnpd first, then have Holo run ${protocol} on it` };
}

/** @param has Holo's key @param wants cnpd's, absent: none @param where in cnpd.yaml */
export function compareKeys(
  has: HoloKey,
  wants: { readonly algorithm: string; readonly key: string; readonly id?: number } | undefined,
  where: string,
  /** Absent: the key is shared with other routers, and not cnpd's to give. */
  change?: Tree,
): Finding | undefined {
  const give = (code: HoloFindingCode, problem: string): Finding =>
    change ? mend(code, problem, change) : { code, problem, remedy: `give Holo and ${where} the same key` };
  if (has.kind === 'chain')
    return {
      code: 'key-chain',
      problem: `Holo authenticates with the key chain ${has.name}, which cnpd does not read: it must have ${where}`,
      remedy: `compare ${where} with the key chain ${has.name} in Holo`,
      warning: true,
    };
  if (!wants)
    return has.kind === 'none'
      ? undefined
      : {
          code: 'key-only-in-holo',
          problem: `Holo authenticates (${has.algorithm}), cnpd.yaml has no ${where}`,
          remedy: `set ${where} in cnpd.yaml to Holo's key`,
        };
  if (has.kind === 'none') return give('key-only-in-cnpd', `cnpd.yaml has ${where}, Holo does not authenticate`);
  const same = has.algorithm === wants.algorithm && has.key === wants.key && has.id === wants.id;
  return same ? undefined : give('keys-differ', `Holo's key and ${where} in cnpd.yaml differ`);
}
