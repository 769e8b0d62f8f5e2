// A wire that loses packets, for as long as an endpoint runs: one of every so many RoCEv2 packets that arrive at its
// interface goes nowhere (bpf/lossy-wire.bpf.c).
import { type HostPort, attachHostProgram } from './host-program.ts';

interface LossyWire {
  /** Packets lost so far. */
  lost(): number;
  /** Idempotent. Nothing is lost from then on. */
  close(): void;
}

/**
 * @param oneIn at least 2
 * @throws KernelError ENODEV (no such interface), EPERM; BpfLoadError
 */
export function loseOneIn(oneIn: number, port: HostPort): LossyWire {
  const { object, close } = attachHostProgram('lossy-wire', port, (bytes) =>
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, oneIn, true),
  );
  const counts = object.map('lossy_wire_counts');
  const key = new Uint8Array(4);
  return {
    lost: () => new DataView(new Uint8Array(counts.lookup(key)!).buffer).getUint32(4, true),
    close,
  };
}
