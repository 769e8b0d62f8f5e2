// What a valid file declares but cannot work. It is known from the file alone, so `cnpd check` notes it.
import type { Intent } from '../intent/intent.ts';
import {
  STAMP_CONSEQUENCE,
  besideStamp,
  collisionOfStamp,
  collisions,
  consequenceOf,
} from '../model/assigned-numbers.ts';
import type { Problem } from '../model/problem.ts';
import { carriageProblems } from './advertised.ts';
import { holoProblems } from './isis.ts';
import { borderProblems } from './ospf.ts';

/** Values that other routers understand differently: the risk that `allow-assigned` accepts. */
export function codePointProblems({ codePoints, stamp }: Intent): Problem[] {
  const others = stamp ? besideStamp(stamp.udpPort) : [];
  const port = stamp && collisionOfStamp(stamp.udpPort);
  const found = [
    ...collisions(codePoints, others).map(
      ({ name, value, with: use }) => `code-points.${name} ${value} is ${use}: ${consequenceOf(name)}`,
    ),
    ...(port === undefined ? [] : [`stamp.port ${stamp!.udpPort} is ${port}: ${STAMP_CONSEQUENCE}`]),
  ];
  return found.map((problem) => ({
    code: 'code-points.assigned',
    feature: 'code-points',
    problem,
    remedy: 'give it a value that is not assigned, here and in the whole domain, and remove allow-assigned',
  }));
}

/** Border ports under proxy.interfaces or router.core-ports, where packets from outside would be accepted. */
function outsideProblems({ borderPorts, proxy, router }: Intent): Problem[] {
  const border = new Set(borderPorts);
  const learned = (proxy?.interfaces ?? [])
    .filter((name) => border.has(name))
    .map((name): Problem => ({
      code: 'proxy.border-interface',
      feature: 'proxy',
      problem:
        `${name} is a border port and under proxy.interfaces: hosts outside the domain can teach and remove ` +
        'Queue Pairs of their own connections there',
      remedy: `remove ${name} from proxy.interfaces, unless notices from outside are allowed (border-allow)`,
    }));
  const core = (router.corePorts ?? [])
    .filter((name) => border.has(name))
    .map((name): Problem => ({
      code: 'router.border-core-port',
      feature: 'router',
      problem: `${name} is a border port and under router.core-ports: it does not count as a core port`,
      remedy: `remove ${name} from router.core-ports`,
    }));
  return [...learned, ...core];
}

export const promiseProblems = (intent: Intent): Problem[] => [
  ...codePointProblems(intent),
  ...carriageProblems(intent),
  ...borderProblems(intent),
  ...holoProblems(intent),
  ...outsideProblems(intent),
];
