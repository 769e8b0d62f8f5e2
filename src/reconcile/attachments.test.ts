import { describe, expect, test } from 'vitest';
import {
  type Attachment,
  type HookKernel,
  attachment,
  attachmentOperations,
  pinName,
  pinOwner,
} from './attachments.ts';

function memoryKernel(restored = (): boolean => false) {
  const links = new Map<string, Attachment>();
  const log: string[] = [];
  const kernel: HookKernel = {
    attach: (desired, pin) => {
      log.push(links.has(pin) ? `swap ${pin}` : `attach ${pin}`);
      links.set(pin, desired);
      return {
        detach: () => {
          log.push(`detach ${pin}`);
          links.delete(pin);
        },
        close: () => log.push(`close ${pin}`),
        restorePin: restored,
      };
    },
    attached: (desired, pin) => links.get(pin)?.ifindex === desired.ifindex,
    pins: () => [...links.keys()],
    remove: (pin) => {
      log.push(`remove ${pin}`);
      links.delete(pin);
    },
  };
  return { kernel, links, log };
}
const eth1 = attachment('egress', { interface: 'eth1', ifindex: 4 }, 'egress');

describe('attachments', () => {
  test('the name of a pin has no character that a BPF file system refuses', () => {
    expect(pinName('egress@eth1.100/egress')).toBe('egress@eth1%2e100:egress');
    expect(pinName('egress@eth1%2e100/egress')).not.toBe(pinName('egress@eth1.100/egress'));
  });

  test.each(['egress@eth1.100/egress', 'egress@eth1%2e100/egress', 'egress@%25.%/egress', 'guard@ä%3a/ingress'])(
    'the pin of %s says whose it is',
    (id) => expect(pinOwner(pinName(id))).toBe(id),
  );

  test.each(['egress@eth1.100:egress', 'egress@eth1/egress', 'egress@50%:egress', 'egress@%2E:egress'])(
    'no attachment has a pin of the name %s',
    (pin) => expect(pinOwner(pin)).toBeUndefined(),
  );

  test('swaps the program of an attachment of an earlier run without detaching it', () => {
    const { kernel, links, log } = memoryKernel();
    links.set(pinName(eth1.id), eth1);
    attachmentOperations(kernel).update(eth1);
    expect(log).toEqual([`swap ${pinName(eth1.id)}`]);
  });

  test('prunes links that are not desired, also those of an earlier run, and keeps the others', () => {
    const { kernel, links } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    links.set('guard@gone:ingress', { ...eth1, id: 'guard@gone/ingress' });
    expect([...operations.prune(new Set([eth1.id]))].filter(Boolean)).toHaveLength(1);
    expect([...links.keys()]).toEqual([pinName(eth1.id)]);
  });

  test('prunes with one look at the desired ids for each pin, and never lists them: there are pins at all ports', () => {
    const { kernel, links } = memoryKernel();
    const ids = Array.from({ length: 300 }, (_, i) => `egress@eth${i}/egress`);
    for (const id of ids) links.set(pinName(id), { ...eth1, id });
    let looks = 0;
    const desired = {
      has: (id: string) => (looks++, id !== ids[7]),
      keys: (): never => {
        throw new Error('listed');
      },
    };
    const removed = [...attachmentOperations(kernel).prune(desired)].filter(Boolean);
    expect({ looks, removed: removed.length, links: links.size }).toEqual({ looks: 300, removed: 1, links: 299 });
  });

  test('notices a link that another program detached', () => {
    const { kernel, links } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    expect(operations.verify!(eth1)).toBe(true);
    links.clear();
    expect(operations.verify!(eth1)).toBe(false);
  });

  test('deletes attachments of this run and of an earlier one', () => {
    const { kernel, links, log } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    operations.delete(eth1.id);
    expect(log).toEqual(['attach egress@eth1:egress', 'detach egress@eth1:egress']);
    links.set(pinName('egress@eth2/egress'), eth1);
    operations.delete('egress@eth2/egress');
    expect(links.size).toBe(0);
  });

  test('a delete of a missing attachment does nothing', () => {
    const { kernel, links, log } = memoryKernel();
    links.set(pinName(eth1.id), eth1);
    attachmentOperations(kernel).delete('egress@eth2/egress');
    expect({ linksSize: links.size, log }).toEqual({ linksSize: 1, log: [] });
  });

  test('pins an unpinned link again instead of closing it: closing would detach it, and packets would bypass the program', () => {
    let hangs = true;
    const { kernel, log } = memoryKernel(() => hangs);
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    operations.update(eth1);
    expect(log).toEqual(['attach egress@eth1:egress']);
    hangs = false;
    operations.update(eth1);
    expect(log.slice(1)).toEqual(['close egress@eth1:egress', 'swap egress@eth1:egress']);
  });

  test('a link of an earlier run is not verified before this run has attached its program', () => {
    const { kernel, links } = memoryKernel();
    links.set(pinName(eth1.id), eth1);
    expect(attachmentOperations(kernel).verify!(eth1)).toBe(false);
  });

  test('closes each link once and leaves it attached', () => {
    const { kernel, links, log } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    operations.close();
    operations.close();
    expect({ log, links: [...links.values()] }).toEqual({
      log: ['attach egress@eth1:egress', 'close egress@eth1:egress'],
      links: [eth1],
    });
  });

  test('a program is first at its hook only on request', () => {
    expect({
      otherwise: eth1.first,
      whenFirst: attachment('guard', { interface: 'eth1', ifindex: 4 }, 'ingress', true).first,
    }).toEqual({ otherwise: false, whenFirst: true });
  });
});
