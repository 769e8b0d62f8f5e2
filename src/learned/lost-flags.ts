// Sender prefixes that lost their flag on the way: a router that does not know the flag has leaked them from one level
// of IS-IS into another. It adds the metric of its path to the signaling metric; cnpd never advertises more than that.
import { SIGNALING_METRIC } from '../model/signaling-metric.ts';
import type { Advertisement } from './preference.ts';

/** Where flags are lost. */
export interface LostFlags {
  readonly prefixes: number;
  /** The routers that advertise these prefixes without the flag, such as `L2 0000.0000.0002`. */
  readonly originators: readonly string[];
}

const isLeaked = ({ pnc, metric, source }: Advertisement): boolean =>
  !pnc && metric > SIGNALING_METRIC && source.originator.carrier === 'isis';

export class FlaglessPrefixes {
  readonly #leaked = new Set<Advertisement>();

  add(a: Advertisement): void {
    if (isLeaked(a)) this.#leaked.add(a);
  }

  remove(a: Advertisement): void {
    this.#leaked.delete(a);
  }

  /** @param knows whether something is known about the senders of a node in spite of it */
  lost(knows: (node: number) => boolean): LostFlags {
    const lost = [...this.#leaked].filter((a) => a.source.originator.reachability === 'reachable' && !knows(a.node));
    return {
      prefixes: new Set(lost.map(({ node }) => node)).size,
      originators: [...new Set(lost.map(({ source }) => source.originator.name))].sort(),
    };
  }
}
