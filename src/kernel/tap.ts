// TAP devices: a virtual Ethernet port whose other end is this process (Documentation/networking/tuntap.rst). The
// device lives in the namespace in which it was opened and disappears when it is closed. One queue, no virtio header:
// the kernel segments and checksums before the process reads.
import { ERRNO, KernelError, isKernelError } from './errors.ts';
import { O, close, interfaceIndex, ioctl, open, read, write } from './ffi/libc.ts';
import { PinnedBuffer, readText, writeText } from './ffi.ts';
import { type Netns, within } from './netns.ts';
import type { Poller, Registration } from './poller.ts';

const TUNSETIFF = 0x400454ca;
const IFF = { TAP: 0x0002, NO_PI: 0x1000 } as const;
/** struct ifreq: name[16], then a union of which the flags are the first two bytes. */
const IFREQ = { size: 40, name: 16, flags: 16 } as const;
const FRAMES_A_WAKE_UP = 64;
/** A TAP without offloads never hands out more than MTU + 18 bytes; the MTU is at most 65535. */
const LONGEST_FRAME = 65_553;

interface TapOptions {
  /** Interface name, at most 15 bytes; `tap%d` lets the kernel number it. */
  readonly name: string;
  readonly netns?: Netns | undefined;
}

interface TapDependencies {
  readonly poller: Poller;
  /** A whole Ethernet frame that the kernel sent out of the interface; valid only during the call. */
  onFrame(frame: Uint8Array): void;
  onError(error: KernelError): void;
}

export interface Tap {
  readonly name: string;
  readonly ifindex: number;
  /** Lets the kernel receive a frame on the interface. @throws KernelError EIO while the interface is down */
  send(frame: Uint8Array): void;
  /** Removes the interface. Idempotent. */
  close(): void;
}

/**
 * Creates a TAP, link down.
 * @throws KernelError ENOENT (no /dev/net/tun), EPERM, EBUSY (the name is taken by another kind or process)
 */
export function openTap(opts: TapOptions, dependencies: TapDependencies): Tap {
  return within(opts.netns, () => {
    const fd = open('/dev/net/tun', O.RDWR | O.NONBLOCK);
    try {
      const request = new Uint8Array(IFREQ.size);
      writeText(request, 0, IFREQ.name, opts.name);
      new DataView(request.buffer).setUint16(IFREQ.flags, IFF.TAP | IFF.NO_PI, true);
      ioctl(`TUNSETIFF(${opts.name})`, fd, TUNSETIFF, request);
      const name = readText(request, 0, IFREQ.name);
      return new TunTap({ fd, name, ifindex: interfaceIndex(name) }, dependencies);
    } catch (error) {
      close(fd);
      throw error;
    }
  });
}

class TunTap implements Tap {
  readonly name: string;
  readonly ifindex: number;
  private readonly fd: number;
  private readonly dependencies: TapDependencies;
  private readonly registration: Registration;
  private readonly buffer = new PinnedBuffer(LONGEST_FRAME);
  private closed = false;

  constructor(opts: { fd: number; name: string; ifindex: number }, dependencies: TapDependencies) {
    this.fd = opts.fd;
    this.name = opts.name;
    this.ifindex = opts.ifindex;
    this.dependencies = dependencies;
    this.registration = dependencies.poller.add(this.fd, () => this.receive());
  }

  send(frame: Uint8Array): void {
    if (this.closed) throw new Error(`TAP ${this.name} was closed`);
    if (write(`write(${this.name})`, this.fd, frame) === undefined)
      throw new KernelError(`write(${this.name})`, ERRNO.ENOBUFS, 'the device takes nothing now');
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.registration.remove();
    close(this.fd);
  }

  private receive(): void {
    for (let i = 0; i < FRAMES_A_WAKE_UP && !this.closed; i++) {
      const length = this.next();
      if (length === undefined) return;
      try {
        this.dependencies.onFrame(this.buffer.bytes.subarray(0, length));
      } catch (error) {
        this.dependencies.poller.report(error);
      }
    }
  }

  private next(): number | undefined {
    try {
      return read(`read(${this.name})`, this.fd, this.buffer.address, LONGEST_FRAME);
    } catch (error) {
      if (!isKernelError(error)) throw error;
      // The interface was deleted externally: the descriptor would always be reported readable.
      this.registration.remove();
      this.dependencies.onError(error);
      return undefined;
    }
  }
}
