// Why the comparison of two routers' BGP may prove nothing: one of the two is not ready, or both are one.
import type { Row } from '../../model/state.ts';
import { type BgpOverview, text } from './overview.ts';

export interface Doubt {
  readonly code:
    | 'here.no-bgp'
    | 'here.not-ready'
    | 'here.refused'
    | 'here.dropped'
    | 'here.on-the-way'
    | 'there.no-bgp'
    | 'there.not-ready'
    | 'same-gobgpd';
  readonly problem: string;
  readonly remedy: string;
}

const DOCTOR = '`cnpctl doctor`, without --remote';

/** The first doubt about this router, the first about the other, and whether both are one. */
export const doubtsOf = ({ session: [own] }: BgpOverview, { session: [other] }: BgpOverview): Doubt[] =>
  [here(own), there(other), same(own, other)].filter((doubt) => doubt !== undefined);

function here(own: Row | undefined): Doubt | undefined {
  if (!own)
    return {
      code: 'here.no-bgp',
      problem: 'this router has no BGP carrier and has sent nothing',
      remedy: 'add a bgp section to cnpd.yaml',
    };
  const [state, reason, refusal] = [own['state'], String(own['reason']), text(own, 'refusal')];
  if (state !== 'ready') {
    const problem = `this router's gobgpd is not ready (${reason}): its paths are not known`;
    return { code: 'here.not-ready', problem, remedy: DOCTOR };
  }
  if (refusal !== undefined) {
    const problem = `this router's gobgpd refuses its paths (${refusal})`;
    return { code: 'here.refused', problem, remedy: DOCTOR };
  }
  const [originated, desired, dropped] = [own['originated'], own['wanted'], Number(own['dropped'] ?? 0)];
  if (dropped > 0) {
    const problem = `this router's gobgpd accepted ${dropped} of ${String(desired)} paths but does not have them`;
    return { code: 'here.dropped', problem, remedy: DOCTOR };
  }
  if (originated === desired) return undefined;
  const problem = `${String(originated)} of ${String(desired)} paths are in this router's gobgpd so far`;
  return { code: 'here.on-the-way', problem, remedy: 'ask again in a moment' };
}

function there(other: Row | undefined): Doubt | undefined {
  if (!other)
    return {
      code: 'there.no-bgp',
      problem: 'the other router has no BGP carrier and receives nothing',
      remedy: 'add a bgp section to its cnpd.yaml',
    };
  if (other['state'] === 'ready') return undefined;
  const problem = `the other router's gobgpd is not ready (${String(other['reason'])}): its answer is out of date`;
  return { code: 'there.not-ready', problem, remedy: '`cnpctl doctor` there' };
}

function same(own: Row | undefined, other: Row | undefined): Doubt | undefined {
  const routerId = own && text(own, 'router-id');
  if (routerId === undefined || !other || text(other, 'router-id') !== routerId) return undefined;
  const problem = `both are the same gobgpd, router ID ${routerId}`;
  return { code: 'same-gobgpd', problem, remedy: 'give --remote the answer of another router' };
}
