// What the programs know of each port, in their maps (kernel/dataplane/holds.ts): where its classes are, whether its
// queue is watched, and how much of that queue is held. Several set their own part; each change is in force with the
// next packet. The maps outlive the agent.
import type { BpfMap } from '../kernel/bpf/map.ts';
import {
  HOLD_EDT,
  HOLD_MAPS,
  type HoldPort,
  decodeHoldPort,
  decodePortBytes,
  encodeHoldPort,
  holdPortKey,
} from '../kernel/dataplane/holds.ts';
import { readU32Key } from '../kernel/dataplane/layout.ts';
import { isKernelError } from '../kernel/errors.ts';

const NOTHING: HoldPort = { handle: 0, above: 0, held: 0n, entered: 0n };
const NO_BYTES = new Uint8Array(8);
/** BPF_NOEXIST. */
const ONLY_NEW = 1;

export class HoldPortTable {
  readonly #ports: BpfMap;
  readonly #bytes: BpfMap;
  readonly #known = new Map<number, HoldPort>();
  /** Ports at which packets of an earlier run may wait for their departure times. */
  readonly earlierEdt: readonly number[];

  /**
   * Over the maps of an open hold.bpf.o. Of what an earlier run has left there, the thresholds stay; its classes are
   * prepared anew, and nothing is in them.
   * @throws KernelError
   */
  constructor(object: { map(name: string): BpfMap }) {
    this.#ports = object.map(HOLD_MAPS.ports);
    this.#bytes = object.map(HOLD_MAPS.portBytes);
    for (const [key, value] of [...this.#ports.entries()]) this.#known.set(readU32Key(key), decodeHoldPort(value));
    this.earlierEdt = [...this.#known].flatMap(([ifindex, { handle }]) => (handle === HOLD_EDT ? [ifindex] : []));
    for (const ifindex of [...this.#known.keys()]) this.removePort(ifindex);
  }

  /**
   * From now on, held packets at this port go into classes of the HTB with this handle. Nothing is in them.
   * @throws KernelError E2BIG
   */
  setPort(ifindex: number, root: number): void {
    this.#count(holdPortKey(ifindex));
    this.#change(ifindex, { handle: root, held: 0n, entered: this.enteredBytes(ifindex) });
  }

  /** From now on, held packets at this port go straight, or behind those that wait. @throws KernelError */
  removePort(ifindex: number): void {
    this.#change(ifindex, { handle: 0, held: 0n, entered: this.enteredBytes(ifindex) });
  }

  /**
   * Packets are reported that find more than so many bytes in the queue of their port, of those named here alone.
   * @param thresholds bytes by index of the port
   * @throws KernelError E2BIG
   */
  setWatched(thresholds: ReadonlyMap<number, number>): void {
    for (const ifindex of [...this.#known.keys()]) if (!thresholds.has(ifindex)) this.#change(ifindex, { above: 0 });
    for (const [ifindex, above] of thresholds) this.#change(ifindex, { above });
  }

  /**
   * What of the port's queue is held: no more than `held` bytes and those that have entered since `entered`.
   * @param entered value of enteredBytes() before the held ones were looked at
   * @throws KernelError
   */
  setHeld(ifindex: number, held: bigint, entered: bigint): void {
    if (this.#known.has(ifindex)) this.#change(ifindex, { held, entered });
  }

  /** Bytes that have entered classes of traffic at the port. @throws KernelError */
  enteredBytes(ifindex: number): bigint {
    const value = this.#bytes.lookup(holdPortKey(ifindex));
    return value ? decodePortBytes(value) : 0n;
  }

  #change(ifindex: number, change: Partial<HoldPort>): void {
    const port = { ...(this.#known.get(ifindex) ?? NOTHING), ...change };
    const key = holdPortKey(ifindex);
    if (port.handle === 0 && port.above === 0) {
      this.#known.delete(ifindex);
      this.#ports.delete(key);
      this.#bytes.delete(key);
      return;
    }
    this.#ports.update(key, encodeHoldPort(port));
    this.#known.set(ifindex, port);
  }

  /** Before the first packet: programs add to an entry that is there. */
  #count(key: Uint8Array): void {
    try {
      this.#bytes.update(key, NO_BYTES, ONLY_NEW);
    } catch (error) {
      if (!isKernelError(error, 'EEXIST')) throw error;
    }
  }
}
