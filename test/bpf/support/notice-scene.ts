// A congested router, the provider edge whose tunnel its traffic comes through, and an ordinary Linux host that sends:
// three namespaces with the kernel's own routing, End.DT6 and IP stack. The builder is attached on the router's
// loopback interface; trigger() hands it a clone as the detector does.
//
//   h 2001:db8:a::1 ─── edge ─── pe (END.CON 2001:db8:c::1) ─── core ─── r 2001:db8:ffff::1
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { EGRESS_PROGRAMS, MARK_TRIGGER } from '../../../src/kernel/dataplane/egress.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { type Compiled, compileBpf } from './compile.ts';
import { inNetns, ip, ipLines } from '../../support/netns.ts';
import { NoticeBuilder, type Order, orderWords } from './builder-under-test.ts';
import { context, frame } from './packets.ts';

const LOOPBACK_IFINDEX = 1;

export class NoticeScene {
  readonly h = Netns.create();
  readonly pe = Netns.create();
  readonly r = Netns.create();
  /**
   * IP packets on the wire: those that reach the host, those that reach the provider edge from the core, and those that
   * reach the router.
   */
  readonly atHost: Uint8Array[] = [];
  readonly atEdge: Uint8Array[] = [];
  readonly atRouter: Uint8Array[] = [];
  readonly errors: unknown[] = [];
  readonly builder: NoticeBuilder;
  readonly #poller = Poller.open({ onError: (error) => void this.errors.push(error) });
  readonly #sockets: PacketSocket[] = [];
  readonly #compiled: Compiled[] = ['bpf/egress.bpf.c', 'test/bpf/support/programs/order.bpf.c'].map(compileBpf);
  readonly #order: BpfObject;
  readonly #link: TcxLink;

  constructor() {
    this.#network();
    this.builder = new NoticeBuilder(this.#compiled[0]!.path);
    this.#order = openBpfObject(this.#compiled[1]!.path);
    this.#link = attachTcx({
      program: this.builder.object.program(EGRESS_PROGRAMS.notice),
      ifindex: LOOPBACK_IFINDEX,
      direction: 'ingress',
      netns: this.r,
    });
    this.#capture(this.h, 't-nb-h', this.atHost);
    this.#capture(this.pe, 't-nb-core', this.atEdge);
    this.#capture(this.r, 't-nb-r', this.atRouter);
  }

  #network(): void {
    const { h, pe, r } = this;
    for (const netns of [h, pe, r]) {
      inNetns(
        netns,
        'sysctl',
        '-qw',
        'net.ipv6.conf.default.accept_dad=0',
        'net.ipv6.conf.default.dad_transmits=0',
        'net.ipv6.conf.all.forwarding=1',
        'net.ipv4.ip_forward=1',
      );
      ip(netns, 'link set lo up');
    }
    inNetns(h, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=0', 'net.ipv4.ip_forward=0');
    ipLines(
      pe,
      `link add t-nb-edge type veth peer name t-nb-h netns ${h.path}
      link add t-nb-core type veth peer name t-nb-r netns ${r.path}`,
    );
    ipLines(
      h,
      `link set t-nb-h up
      addr add 2001:db8:a::1/64 dev t-nb-h nodad
      addr add 10.0.0.1/24 dev t-nb-h
      route add default via 2001:db8:a::ff
      route add default via 10.0.0.253`,
    );
    ipLines(
      pe,
      `link set t-nb-edge up
      link set t-nb-core up
      addr add 2001:db8:a::ff/64 dev t-nb-edge nodad
      addr add 10.0.0.253/24 dev t-nb-edge
      addr add 2001:db8:9::1/64 dev t-nb-core nodad
      addr add 10.9.0.1/24 dev t-nb-core
      route add 2001:db8:ffff::/48 via 2001:db8:9::2
      route add 10.0.9.254/32 via 10.9.0.2
      route add 2001:db8:c::1/128 encap seg6local action End.DT6 table 254 dev t-nb-core`,
    );
    ipLines(
      r,
      `link set t-nb-r up
      addr add 2001:db8:ffff::1/128 dev lo
      addr add 10.0.9.254/32 dev lo
      addr add 2001:db8:9::2/64 dev t-nb-r nodad
      addr add 10.9.0.2/24 dev t-nb-r
      route add 2001:db8:a::/48 via 2001:db8:9::1
      route add 2001:db8:c::/48 via 2001:db8:9::1
      route add 10.0.0.0/24 via 10.9.0.1`,
    );
  }

  #capture(netns: Netns, name: string, into: Uint8Array[]): void {
    this.#sockets.push(
      openPacketSocket(
        { interface: name, netns, promiscuous: true, receiveBuffer: 8 << 20 },
        {
          poller: this.#poller,
          onFrame: (f) => void into.push(f.slice(14)),
          onError: (error) => void this.errors.push(error),
        },
      ),
    );
  }

  /** The detector's part: a clone of the packet, as it would leave the router by its core port, with an order. */
  trigger(packet: Uint8Array, order: Order): void {
    const ifindex = this.r.run(() => interfaceIndex('t-nb-r'));
    const ctx = context({ ifindex, mark: MARK_TRIGGER, cb: orderWords(order) });
    this.#order.program('order').testRun({ data: frame(packet), ctx, netns: this.r });
  }

  close(): void {
    this.#link.close();
    for (const socket of this.#sockets) socket.close();
    this.builder.close();
    this.#order.close();
    for (const compiled of this.#compiled) compiled.remove();
    this.#poller.close();
    for (const netns of [this.h, this.pe, this.r]) netns.close();
  }
}
