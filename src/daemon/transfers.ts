// A stop waits for transfers. It withdraws this router's members and SIDs, and then the roots of their groups no longer
// wait for its receivers. In the middle of a transfer these would miss data that the source takes for confirmed.
// Whoever cannot wait ends cnpd without a withdrawal (a second signal, SIGKILL): other routers then hold its members.
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';
import type { Daemon } from './daemon.ts';

const LOOK_MS = 500;

/** Until no packets of groups pass here, or the kernel does not say whether they do. */
export async function untilTransfersPause(
  daemon: Pick<Daemon, 'transfers'>,
  log: Log,
  lookMs = LOOK_MS,
): Promise<void> {
  let isLogged = false;
  for (;;) {
    const groups = transfersOf(daemon, log);
    if (groups.length === 0) return;
    if (!isLogged)
      log.warn(
        { groups },
        'the stop waits for transfers of groups: a withdrawal now would lose data of receivers here. A second signal ' +
          'cnpd ends without one: other routers then keep its members for hold-unreachable',
      );
    isLogged = true;
    await delay(lookMs);
  }
}

function transfersOf(daemon: Pick<Daemon, 'transfers'>, log: Log): readonly string[] {
  try {
    return daemon.transfers();
  } catch (error) {
    log.error({ error: messageOf(error) }, 'cannot tell whether packets of groups pass here');
    return [];
  }
}
