// What the machine of content.ts is made of: its configuration, its events and effects, and its state.
import type { Note } from '../effects.ts';
import type { Stopping } from '../tasks.ts';
import type { Family, IpAddress } from '../../model/address.ts';
import type { LearnedReport, Origination } from '../../model/advertisement.ts';
import type { CodePointValues } from '../../model/code-points.ts';
import type { Prefix } from '../../model/prefix.ts';
import type { GobgpAbout, GobgpRoute } from './gobgp/gobgp.ts';
import type { BgpKinds } from './kinds/table.ts';
import type { LearnState } from './learning/state.ts';
import type { OwnChanges, OwnState } from './own/state.ts';
import type { Session } from './session/state.ts';
import type { GobgpFault } from '../../model/gobgp-fault.ts';

export interface ContentConfig {
  readonly nextHop4?: IpAddress | undefined;
  readonly nextHop6?: IpAddress | undefined;
  readonly advertise: 'senders' | 'proxy-host';
  readonly communities: readonly number[];
  readonly largeCommunities: readonly (readonly [number, number, number])[];
  /** AS numbers beside gobgpd's own. */
  readonly domain: ReadonlySet<number>;
  /** Members of gobgpd's confederation, as far as they are declared. */
  readonly confederation: ReadonlySet<number>;
  readonly learn: 'best' | 'all';
  readonly viaNextHop: boolean;
  readonly holdUnreachableMs: number;
  readonly codePoints: CodePointValues;
}

/** What can be changed in flight. */
export type ContentChanges = Pick<
  ContentConfig,
  'nextHop4' | 'nextHop6' | 'advertise' | 'communities' | 'largeCommunities' | 'holdUnreachableMs'
>;

export type ContentEvent =
  /** The whole of what this router declares. */
  | { readonly type: 'declare'; readonly origination: Origination }
  | { readonly type: 'configure'; readonly changes: ContentChanges }
  /** The next four are those of GobgpListener. */
  | { readonly type: 'connected'; readonly about: GobgpAbout }
  | { readonly type: 'routes'; readonly routes: readonly GobgpRoute[] }
  | { readonly type: 'listed'; readonly without?: readonly Family[] }
  | { readonly type: 'lost'; readonly fault: GobgpFault; readonly retryAt: number }
  /** gobgpd has taken the changes, or not, and why. */
  | { readonly type: 'done'; readonly changes: OwnChanges; readonly failure?: GobgpFault }
  /** gobgpd has reported what it has of these prefixes, or not, and why. */
  | { readonly type: 'looked'; readonly prefixes: readonly Prefix[]; readonly failure?: GobgpFault }
  | { readonly type: 'stop' }
  | { readonly type: 'timer' };

export type ContentEffect =
  | { readonly type: 'learned'; readonly report: LearnedReport }
  | { readonly type: 'reachability'; readonly reachable: ReadonlySet<string> }
  /** For gobgpd; `done` is expected, and no other changes come before it. */
  | { readonly type: 'change'; readonly changes: OwnChanges }
  /** gobgpd is to be asked about these prefixes; `looked` is expected, and nothing else is looked up before it. */
  | { readonly type: 'look'; readonly prefixes: readonly Prefix[] }
  /** Nothing of ours is in gobgpd any more, or (not clean) that is not known. */
  | { readonly type: 'stopped'; readonly clean: boolean }
  | Note;

export interface Content {
  readonly counterPrefix: string;
  readonly kinds: BgpKinds;
  config: ContentConfig;
  now: number;
  effects: ContentEffect[];
  readonly session: Session;
  /**
   * The last that was declared; undefined: none yet, and what is in gobgpd is left alone until a stop, which takes it
   * out.
   */
  origination: Origination | undefined;
  /** A declaration that is being worked on. */
  declaring: Iterator<void> | undefined;
  /** Declared prefixes and SIDs that are not advertised. */
  unplaced: number;
  readonly own: OwnState;
  /** Why gobgpd did not take our paths the last time; undefined: it did. */
  refusal: GobgpFault | undefined;
  readonly learning: LearnState;
  readonly warned: Map<string, number>;
  /** Its deadline counts from gobgpd's last answer. */
  stopping: Stopping | undefined;
}
