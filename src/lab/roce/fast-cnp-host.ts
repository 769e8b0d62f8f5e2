// Takes Fast CNPs away from the kernel's IP stack for as long as an endpoint that understands them runs
// (bpf/fast-cnp-host.bpf.c).
import type { FastCnpOptionCodes } from '../../packet/ip/fast-cnp-option.ts';
import { type HostPort, attachHostProgram } from './host-program.ts';

interface FastCnpHost {
  /** Idempotent. The kernel answers Fast CNPs with Parameter Problem again. */
  close(): void;
}

/** @throws KernelError ENODEV (no such interface), EPERM; BpfLoadError */
export const takeFastCnps = (port: HostPort, codes: FastCnpOptionCodes): FastCnpHost =>
  attachHostProgram('fast-cnp-host', port, (bytes) => bytes.set([codes.option, codes.ioamOption]));
