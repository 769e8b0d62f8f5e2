// A dataplane of one class, and what is asked of it, for the tests of enforcement.ts.
import { address } from '../model/address.ts';
import type { HoldDataplane } from './hold-dataplane.ts';
import type { SourceFlow } from './hold.ts';

export const LINE = 80e6;
export const FLOW = { sender: address('2001:db8:1::1'), receiver: address('2001:db8:2::1'), receiverQpn: 0xc8 };
export const flow = (receiverQpn: number): SourceFlow => ({ ...FLOW, receiverQpn, tenant: 0 });
export const RTT = 20;

/** One class, whose packets the test lets in and out. */
export class FakeClasses implements HoldDataplane {
  readonly calls: unknown[][] = [];
  entered = 0n;
  sent = 0n;
  dropped = 0n;
  backlog = 0;
  refuses: string | undefined;
  hold: Parameters<HoldDataplane['setHold']>[2] | undefined;

  #call(name: string, ...rest: unknown[]): Promise<void> {
    if (this.refuses === name) return Promise.reject(new Error('the kernel said no'));
    this.calls.push([name, ...rest]);
    return Promise.resolve();
  }
  setClass = (slot: number, { rate, limit }: { rate: bigint; limit: number }) => this.#call('class', slot, rate, limit);
  changeRate = (slot: number, { rate }: { rate: bigint }) => this.#call('rate', slot, rate);
  pause = (slot: number, microseconds: number) => this.#call('pause', slot, microseconds);
  classCounters = () =>
    Promise.resolve({
      sent: this.sent,
      dropped: this.dropped,
      backlogPackets: this.backlog,
      backlogBytes: 1000 * this.backlog,
    });
  setHold = (slot: number, _flow: SourceFlow, hold: NonNullable<FakeClasses['hold']>): void => {
    this.hold = hold;
    void this.#call(hold.phase, slot);
  };
  removeHold = (): void => {
    this.hold = undefined;
    void this.#call('removed');
  };
  record = () => (this.hold ? { entered: this.entered, released: false } : undefined);
}
