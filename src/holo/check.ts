// A check of Holo's configuration, whoever evaluates it (src/diagnosis/holo/), and the change that fixes it.
import type { SuiteCheck } from '../model/router-suite.ts';
import type { Tree } from './tree.ts';

/** Which of its problems a check has found. */
export type HoloFindingCode =
  | 'daemon-silent'
  | 'version-old'
  | 'interface-missing'
  | 'interface-dead'
  | 'no-instance'
  | 'not-enabled'
  | 'broadcast'
  | 'passive'
  | 'level-differs'
  | 'area-differs'
  | 'area-unknown'
  | 'area-type'
  | 'system-id-taken'
  | 'router-id-taken'
  | 'narrow-metrics'
  | 'hello-padding'
  | 'timers-differ'
  | 'instance-id-differs'
  | 'mtu-small'
  | 'mtu-differs'
  | 'sids-unseen'
  | 'database-unsafe'
  | 'key-chain'
  | 'key-only-in-holo'
  | 'key-only-in-cnpd'
  | 'keys-differ';

export interface HoloCheck extends SuiteCheck {
  readonly code?: HoloFindingCode;
  /** Merged into Holo's configuration it fixes the problem. */
  readonly change?: Tree;
}
