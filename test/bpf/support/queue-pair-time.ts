// Time that passes for what the proxy's program has learned, without anybody waiting: every time that it remembers is
// moved back by as much.
import { LITTLE_ENDIAN, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { LEARNED_MAPS, type ProxyUnderTest } from './proxy-under-test.ts';

/** Times in struct queue_pair, struct sent and struct cm_side; a zero is "never" and stays. */
const TIMES: readonly (readonly [string, readonly number[]])[] = [
  ...LEARNED_MAPS.map((map) => [map, [16, 24, 32, 40, 48, 88, 96]] as const),
  [PROXY_MAPS.sentPsns, [8]],
  [PROXY_MAPS.cmConnections, [16]],
];

export function letTimePass(proxy: ProxyUnderTest, ns: number): void {
  for (const [name, fields] of TIMES) {
    const map = proxy.object.map(name);
    for (const [key, value] of [...map.entries()]) {
      const view = viewOf(value);
      for (const at of fields) {
        const time = view.getBigUint64(at, LITTLE_ENDIAN);
        if (time !== 0n) view.setBigUint64(at, BigInt.asUintN(64, time - BigInt(ns)), LITTLE_ENDIAN);
      }
      map.update(key, value);
    }
  }
}
