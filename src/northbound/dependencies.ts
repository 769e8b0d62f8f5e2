// What the northbound is handed by the daemon: the state, and what its calls do.
import type { ConfigActions, ConfigOutcome } from '../model/config-change.ts';
import type { ChangeResult } from '../model/group-change.ts';
import type { ChangeLevels } from '../model/log-levels.ts';
import type { Count, Log } from '../model/log.ts';
import type { Recording } from '../model/recording.ts';
import type { ReleaseRequest } from '../model/source.ts';
import type { StateSource } from '../model/state.ts';
import type { Work } from '../model/work.ts';
import type { ApplyChanges } from './set.ts';
import type { Subscriptions } from './subscribe/service.ts';
import type { UnreadAnswers } from './unread.ts';

export interface NorthboundDependencies {
  readonly source: StateSource;
  readonly actions: {
    reload(): Promise<ConfigOutcome>;
    readonly set: ApplyChanges;
    readonly config: ConfigActions;
    /** The argument as the client wrote it. */
    readonly restartGroup: (proxyAddress: string) => ChangeResult;
    readonly logLevels: ChangeLevels;
    /** Absent: nothing can be recorded. */
    readonly recording?: Recording;
    /** Returns how much is let go: flows, and with `all` also what is paused for neighbors. */
    readonly release: (which: ReleaseRequest) => number;
  };
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  /** Of all sockets; default: this one has its own. */
  readonly subscriptions?: Subscriptions;
  /** Of all sockets; default: this one has its own. */
  readonly unread?: UnreadAnswers;
}
