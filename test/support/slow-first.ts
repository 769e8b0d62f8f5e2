// The order of the test files: the longest of each project first, so that at the end no worker waits for one of them
// alone. A fresh clone has no times of an earlier run to go by. The names are paths: base names occur several times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Measured on two cores: what takes more than ten seconds of `unit` and `bpf`, and forty of `e2e`. */
const SLOW = [
  'src/intent/hostile',
  'src/packet/hostile.fixture',
  'test/bpf/proxy/connections',
  'test/bpf/detector/formats',
  'test/bpf/multicast/model',
  'test/bpf/wire/tunnels',
  'test/bpf/detector/triggers',
  'test/bpf/proxy/formats',
  'test/bpf/proxy/port-shares',
  'test/bpf/wire/packet-lengths',
  'test/e2e/multicast-group',
  'test/e2e/groups-api',
  'test/e2e/reload',
  'test/e2e/scenes',
  'test/e2e/gobgp-policy',
  'test/e2e/frr-configs',
  'test/e2e/gobgp-client',
  'test/e2e/privileges',
  'test/e2e/restart',
  'test/e2e/ospf-carrier',
  'test/e2e/life-cycle',
  'test/e2e/ospf-frr',
  'test/e2e/ospf-scenes',
  'test/e2e/ospf-trouble',
  'test/e2e/isis-forged',
  'test/e2e/ospf-areas',
  'test/e2e/bgp-remote-doctor',
  'test/e2e/scene',
  'test/e2e/daemon',
  'test/e2e/isis-frr',
  'test/e2e/lab',
  'test/e2e/srv6-sids',
  'test/e2e/isis-trouble',
  'test/e2e/long-haul',
  'test/e2e/ospf-hostile',
  'test/e2e/gobgp-doctor',
  'test/e2e/bgp-frr',
  'test/e2e/bgp-hostile',
  'test/e2e/northbound',
  'test/e2e/frr-ospf',
  'test/e2e/frr',
  'test/e2e/ospf-preference',
  'test/e2e/bgp-ebgp',
  'test/e2e/roce-endpoint',
  'test/e2e/end-con',
].map((name) => `/${name}.test.ts`);

function rank({ moduleId }: TestSpecification): number {
  const at = SLOW.findIndex((name) => moduleId.endsWith(name));
  return at < 0 ? SLOW.length : at;
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
