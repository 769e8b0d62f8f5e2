// The congested router of the egress tests, declared proxy of the senders behind its uplink.
import { writeFileSync } from 'node:fs';
import { address } from '../../../src/model/address.ts';
import type { RocePacket } from '../../../src/packet/roce/packet.ts';
import { CongestedRouter, PNC_PORT } from './congested-router.ts';
import { CHECKED, ProxyUnderTest, cnpsAmong } from './proxy-under-test.ts';

export const LOOPBACK_IFINDEX = 1;
const SENDERS = ['2001:db8:1::/48', '10.1.0.0/16'];

/** The router without its proxy; its port is congested. */
export async function congested(): Promise<CongestedRouter> {
  const router = await CongestedRouter.create();
  // The loopback interface is on no path to the receivers.
  for (const name of ['all', 'lo'])
    router.router.run(() => writeFileSync(`/proc/sys/net/ipv4/conf/${name}/rp_filter`, '0'));
  await router.fill(150_000);
  router.port({ kMax: 100_000 });
  return router;
}

export interface Own {
  readonly proxy: ProxyUnderTest;
  /** Makes an address of this router the proxy of all senders. */
  declare(proxy: string): void;
}

export type ParsedCnp = RocePacket;

/** The proxy of this router, not attached yet, and nothing seen so far. @param path its object */
export function ownProxy(router: CongestedRouter, path: string): Own {
  router.clear();
  const proxy = new ProxyUnderTest(path, { learning: CHECKED });
  return {
    proxy,
    declare: (text) => {
      const at = address(text);
      router.senders(...SENDERS.map((sender) => [sender, at] as const));
      proxy.configure({ address: at, udpPort: PNC_PORT }, SENDERS, [
        `${at.family === 4 ? '192.0.2.9/32' : '2001:db8:ffff::9/128'}`,
      ]);
    },
  };
}

/** The CNPs among frames. */
export const cnps = (frames: readonly Uint8Array[]): ParsedCnp[] => cnpsAmong(frames.map((f) => f.subarray(14)));
