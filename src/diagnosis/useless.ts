// What a valid file declares and what cannot be of any use, or is useless as a protection. It is known from the file
// alone, so `check` notes it.
import type { Intent } from '../intent/intent.ts';
import type { Problem } from '../model/problem.ts';
import { asksAboutSenders, notifies, notifiesDirectly } from '../plan/policy.ts';

export const uselessNotes = (intent: Intent): Problem[] => [
  ...withoutCarrier(intent),
  ...withoutPorts(intent),
  ...loopbackWatched(intent),
  ...shortKeys(intent),
];

/** A policy of `notifications` may name formats that need no proxy. */
function withoutCarrier(intent: Intent): Problem[] {
  const { isis, ospfv2, ospfv3, bgp } = intent;
  if (isis ?? ospfv2 ?? ospfv3 ?? bgp) return [];
  if (!asksAboutSenders(intent) || notifiesDirectly(intent)) return [];
  return [
    {
      code: 'ports.no-carrier',
      feature: 'ports',
      problem: 'k-max is declared, but without a carrier no proxy is ever learned, so no sender is notified',
      remedy: 'add isis, ospfv2, ospfv3 or bgp, or a format under notifications that needs no proxy',
    },
  ];
}

/** A proxy that sends other formats than standard CNPs is built by the same settings. */
function withoutPorts(intent: Intent): Problem[] {
  const builds = intent.proxy?.senders.some(({ format }) => format !== 'standard-cnp') ?? false;
  if (!intent.notifications || notifies(intent) || builds) return [];
  return [
    {
      code: 'notifications.no-ports',
      feature: 'notifications',
      problem: 'no port has k-max, so nothing under notifications is ever used',
      remedy: 'add a port with k-max under ports, or remove notifications',
    },
  ];
}

const loopbackWatched = ({ ports }: Intent): Problem[] =>
  ports.some((port) => port.interface === 'lo')
    ? [
        {
          code: 'ports.loopback',
          feature: 'ports',
          problem: 'lo is watched: its queue is always empty, and no flow to another host leaves there',
          remedy: 'name the port that congests, or remove lo from ports',
        },
      ]
    : [];

const SHORT = 1;

/** Of the sections that have such a key. The key itself is not repeated. */
function shortKeys({ isis, ospfv2, ospfv3, stamp }: Intent): Problem[] {
  const keys = {
    isis: Object.values(isis?.authentication ?? {}).map(({ key }) => key),
    ospfv2: (ospfv2?.areas ?? []).flatMap((area) => area.keys.map(({ key }) => key)),
    ospfv3: (ospfv3?.areas ?? []).flatMap((area) => area.keys.map(({ key }) => key)),
    stamp: stamp?.hmacKey === undefined ? [] : [stamp.hmacKey],
  };
  return Object.entries(keys).flatMap(([feature, texts]): Problem[] =>
    texts.some((text) => text.length <= SHORT)
      ? [
          {
            code: 'authentication.short-key',
            feature,
            problem: 'a key of authentication has one character: 95 attempts find it',
            remedy: `give a longer key under ${feature}, here and on all neighbors, such as from \`openssl rand -hex 8\``,
          },
        ]
      : [],
  );
}
