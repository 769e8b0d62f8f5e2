// The counters of End.MT (bpf/lib/multicast/counter-rows.h), part of the table in counters.ts.
import type { CounterRow } from './counters.ts';

const row = (index: number, name: string, meaning: string): CounterRow => ({ index, name, meaning });

export const MULTICAST_COUNTERS: readonly CounterRow[] = [
  row(256, 'multicast.edge.packets', 'packets replicated to receivers by End.MT (RMC-6.2-e)'),
  row(320, 'multicast.epochs', 'changes of the tree or of its members that a role of this router has followed'),
  row(321, 'multicast.stale', 'data packets of an older epoch than the current one, dropped'),
  row(322, 'multicast.answers.host', 'ACKs, NAKs and CNPs of receivers to a Proxy Address'),
  row(323, 'multicast.answers.child', 'ACKs, NAKs and CNPs of routers further down the tree'),
  row(324, 'multicast.answers.malformed', 'answers whose lengths, opcode, syndrome or Queue Pair are wrong, dropped'),
  row(325, 'multicast.answers.icrc', 'answers whose ICRC is wrong, dropped'),
  row(
    326,
    'multicast.answers.stranger',
    'answers from addresses that are no branch of the list in use, dropped (RMC-9-b)',
  ),
  row(
    327,
    'multicast.answers.wrong-port',
    'answers that did not arrive where their sender is routed, dropped (RMC-9-b)',
  ),
  row(328, 'multicast.answers.stale', 'answers of another epoch than the current one, dropped'),
  row(329, 'multicast.answers.never-sent', 'answers about PSNs that this router has not forwarded, dropped'),
  row(330, 'multicast.answers.contended', 'answers given up because too many CPUs changed one word at the same time'),
  row(
    331,
    'multicast.answers.waiting',
    'answers recorded while other branches have not answered in this epoch (decision C9)',
  ),
  row(332, 'multicast.answers.suppressed', 'answers recorded that do not change what goes up'),
  row(333, 'multicast.up.ack', 'ACKs sent up, with the minimum over all branches (RMC-5.3.1-d)'),
  row(334, 'multicast.up.nak', 'sequence NAKs sent up (RMC-5.3.2-d)'),
  row(335, 'multicast.up.rnr', 'RNR NAKs sent up'),
  row(336, 'multicast.up.fatal', 'NAKs of fatal errors sent up'),
  row(337, 'multicast.up.cnp', 'CNPs sent up, one per window (RMC-5.3.3-b)'),
  row(338, 'multicast.cnps', 'CNPs counted in windows (RMC-5.3.3-a)'),
  row(339, 'multicast.cnps.limited', 'CNPs of a branch beyond its limit in a window, not counted there (RMC-9-d)'),
  row(340, 'multicast.up.no-source', 'answers dropped at the root because the Queue Pair of the source is not known'),
  row(341, 'multicast.up.no-parent', 'answers dropped because the SID of the parent is not known'),
  row(342, 'multicast.up.failed', 'answers that the kernel did not let the program resize or write, dropped'),
  row(343, 'multicast.answers.no-data', 'answers for a group of which no data packet has come yet, dropped'),
];
