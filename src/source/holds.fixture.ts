// A dataplane that believes nothing: it applies the effects of Holds to classes and complains of those without sense.
import { type IpAddress, address } from '../model/address.ts';
import type { LongHaulAction } from '../model/notification.ts';
import { type HoldEffect, type HoldEvent, type HoldOptions, type SourceFlow, defaultHoldOptions } from './hold.ts';
import { Holds } from './holds.ts';

export const LINE = 100e6;
export const RTT = 10;
export const [NODE, OTHER, THIRD] = [
  address('2001:db8:ffff::2'),
  address('2001:db8:ffff::3'),
  address('2001:db8:ffff::4'),
];

export const flowOf = (receiverQpn: number): SourceFlow => ({
  sender: address('2001:db8:1::10'),
  receiver: address('2001:db8:2::10'),
  receiverQpn,
  tenant: 0,
});

interface Class {
  readonly flow: SourceFlow;
  rate: number;
  /** ms; −Infinity: not paused. */
  pausedUntil: number;
  untilMs: number;
  leaving: boolean;
}

export class Dataplane {
  readonly classes = new Map<number, Class>();

  apply({ flow, slot, ...change }: HoldEffect, now: number): void {
    const known = this.classes.get(slot);
    if (change.kind === 'hold') {
      if (known && (known.flow !== flow || !known.leaving)) throw new Error(`slot ${slot} used twice`);
      const { rate, untilMs } = change;
      this.classes.set(slot, { flow, rate, untilMs, pausedUntil: -Infinity, leaving: false });
      return;
    }
    if (!known || known.flow !== flow) throw new Error(`${change.kind} of slot ${slot}, which is not this flow's`);
    if (known.leaving && !['rate', 'renew', 'free'].includes(change.kind))
      throw new Error(`${change.kind} of a leaver`);
    if (change.kind === 'free' && !known.leaving) throw new Error('free without leave');
    switch (change.kind) {
      case 'rate':
        known.rate = change.rate;
        return;
      case 'pause':
        if (!(change.microseconds >= 1 && change.microseconds <= 65_535)) throw new Error(`${change.microseconds} µs`);
        known.pausedUntil = now + change.microseconds / 1000;
        return;
      case 'resume':
        known.pausedUntil = -Infinity;
        return;
      case 'renew':
        known.untilMs = change.untilMs;
        return;
      case 'leave':
        Object.assign(known, { rate: change.rate, leaving: true });
        return;
      case 'free':
        this.classes.delete(slot);
    }
  }
}

export class World {
  now = 0;
  readonly counts: Record<string, number> = {};
  readonly dataplane = new Dataplane();
  readonly holds: Holds;
  readonly opts: HoldOptions;
  readonly #flows = new Map<number, SourceFlow>();

  constructor(opts: Partial<HoldOptions> = {}) {
    this.opts = { ...defaultHoldOptions(LINE), rttMs: RTT, rateIntervalMs: 0, ...opts };
    this.holds = new Holds(this.opts, {
      count: (name) => void (this.counts[name] = (this.counts[name] ?? 0) + 1),
    });
  }

  /** The flow's identity stays one object, by which the dataplane tells flows. */
  flow(receiverQpn: number): SourceFlow {
    const flow = this.#flows.get(receiverQpn) ?? flowOf(receiverQpn);
    this.#flows.set(receiverQpn, flow);
    return flow;
  }

  apply(effects: readonly HoldEffect[]): HoldEffect[] {
    for (const effect of effects) this.dataplane.apply(effect, this.now);
    return [...effects];
  }

  /** Lets time pass; `advance` is called when it is due, and not at any other moment. */
  pass(until: number): HoldEffect[] {
    const effects: HoldEffect[] = [];
    for (let at = this.holds.nextAt; at !== undefined && at <= until; at = this.holds.nextAt) {
      this.now = at;
      effects.push(...this.apply(this.holds.advance(at)));
    }
    this.now = until;
    return effects;
  }

  notify(event: Partial<HoldEvent> = {}): HoldEffect[] {
    const full: HoldEvent = { flow: this.flow(1), senderQpn: 0x11, node: NODE, format: 'fast-cnp', ...event };
    return this.apply(this.holds.onNotification(full, this.now));
  }

  instruct(
    action: LongHaulAction,
    parameter: number,
    node: IpAddress = NODE,
    more: Partial<HoldEvent> = {},
  ): HoldEffect[] {
    return this.notify({ format: 'long-haul-icmpv6', instruction: { level: 1, action, parameter }, node, ...more });
  }

  /** What the flow may send now, as a share of the line rate; undefined: it is not held. */
  rate(receiverQpn = 1): number | undefined {
    const found = [...this.dataplane.classes.values()].find(({ flow }) => flow.receiverQpn === receiverQpn);
    return found && !found.leaving ? found.rate / LINE : undefined;
  }

  paused(receiverQpn = 1): boolean {
    const found = [...this.dataplane.classes.values()].find(({ flow }) => flow.receiverQpn === receiverQpn);
    return found !== undefined && found.pausedUntil > this.now;
  }
}
