// Runs in a guest (what-loads.test.ts): what the kernel lacks, and which programs load. Prints it as JSON.
import { Poller } from '../../src/kernel/poller.ts';
import { probeKernel } from '../../src/kernel/probe.ts';
import { openBpfObject } from '../../src/kernel/bpf/object.ts';
import { messageOf } from '../../src/model/error-text.ts';
import { object } from '../bpf/support/congested-router.ts';

const OBJECTS = ['egress', 'proxy', 'guard', 'srv6', 'source', 'hold', 'multicast'];

const poller = Poller.open({
  onError: (error) => {
    throw error;
  },
});
const features = await probeKernel({ poller });
poller.close();

const objects = Object.fromEntries(
  OBJECTS.map((name) => {
    try {
      openBpfObject(object(name)).close();
      return [name, 'loaded'];
    } catch (error) {
      return [name, messageOf(error)];
    }
  }),
);
process.stdout.write(`${JSON.stringify({ features, objects })}\n`);
