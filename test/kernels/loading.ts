// In a guest: what its kernel lacks, and which programs load.
import { dirname } from 'node:path';
import { openBpfObject } from '../../src/kernel/bpf/object.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { type KernelFeature, probeKernel } from '../../src/kernel/probe.ts';
import { messageOf } from '../../src/model/error-text.ts';
import { object } from '../bpf/support/congested-router.ts';

/** Object → the part of cnpd that loads it. */
export const PARTS = {
  egress: 'ports',
  proxy: 'proxy',
  guard: 'border-ports',
  srv6: 'srv6',
  source: 'source',
  hold: 'enforce',
  multicast: 'groups',
} as const;

export interface Loading {
  readonly features: readonly KernelFeature[];
  /** By object: `loaded`, or the error. */
  readonly objects: Readonly<Record<string, string>>;
}

export async function whatLoads(): Promise<Loading> {
  const poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  const features = await probeKernel({ poller, objectDir: dirname(object('probe')) });
  poller.close();
  const tried = Object.keys(PARTS).map((name) => {
    try {
      openBpfObject(object(name)).close();
      return [name, 'loaded'];
    } catch (error) {
      return [name, messageOf(error)];
    }
  });
  return { features, objects: Object.fromEntries(tried) as Record<string, string> };
}
