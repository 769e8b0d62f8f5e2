import { describe, expect, test } from 'vitest';
import { type Attachment, type HookKernel, attachment, attachmentOperations, pinName } from './attachments.ts';

function memoryKernel(restored = (): boolean => false) {
  const links = new Map<string, Attachment>();
  const log: string[] = [];
  const kernel: HookKernel = {
    attach: (wanted, pin) => {
      log.push(links.has(pin) ? `swap ${pin}` : `attach ${pin}`);
      links.set(pin, wanted);
      return {
        detach: () => {
          log.push(`detach ${pin}`);
          links.delete(pin);
        },
        close: () => log.push(`close ${pin}`),
        restorePin: restored,
      };
    },
    attached: (wanted, pin) => links.get(pin)?.ifindex === wanted.ifindex,
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
  test('a pin has no character that a BPF file system refuses', () => {
    expect(pinName('egress@eth1.100/egress')).toBe('egress@eth1%2e100:egress');
    expect(pinName('egress@eth1%2e100/egress')).not.toBe(pinName('egress@eth1.100/egress'));
  });

  test('swaps the program of an attachment that an earlier run left, without taking it off', () => {
    const { kernel, links, log } = memoryKernel();
    links.set(pinName(eth1.id), eth1);
    attachmentOperations(kernel).update(eth1);
    expect(log).toEqual([`swap ${pinName(eth1.id)}`]);
  });

  test('prunes links that nobody wants, also those of an earlier run, and leaves the others alone', () => {
    const { kernel, links } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    links.set('guard@gone:ingress', { ...eth1, id: 'guard@gone/ingress' });
    expect([...operations.prune(new Set([eth1.id]))].filter(Boolean)).toHaveLength(1);
    expect([...links.keys()]).toEqual([pinName(eth1.id)]);
  });

  test('notices a link that somebody took off', () => {
    const { kernel, links } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    expect(operations.verify!(eth1)).toBe(true);
    links.clear();
    expect(operations.verify!(eth1)).toBe(false);
  });

  test('deletes what this run attached and what an earlier one did', () => {
    const { kernel, links, log } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    operations.delete(eth1.id);
    expect(log).toEqual(['attach egress@eth1:egress', 'detach egress@eth1:egress']);
    links.set(pinName('egress@eth2/egress'), eth1);
    operations.delete('egress@eth2/egress');
    expect(links.size).toBe(0);
  });

  test('takes nothing off that is not there', () => {
    const { kernel, links, log } = memoryKernel();
    links.set(pinName(eth1.id), eth1);
    attachmentOperations(kernel).delete('egress@eth2/egress');
    expect([links.size, log]).toEqual([1, []]);
  });

  test('lets a link that has lost its pin be until another has its place: with its descriptor it would go, and packets would pass unseen', () => {
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

  test('does not take a link of an earlier run for its own before it has attached its program', () => {
    const { kernel, links } = memoryKernel();
    links.set(pinName(eth1.id), eth1);
    expect(attachmentOperations(kernel).verify!(eth1)).toBe(false);
  });

  test('closes each link once and leaves it where it hangs', () => {
    const { kernel, links, log } = memoryKernel();
    const operations = attachmentOperations(kernel);
    operations.update(eth1);
    operations.close();
    operations.close();
    expect([log, [...links.values()]]).toEqual([['attach egress@eth1:egress', 'close egress@eth1:egress'], [eth1]]);
  });

  test('sees packets first only where that is asked for', () => {
    expect([eth1.first, attachment('guard', { interface: 'eth1', ifindex: 4 }, 'ingress', true).first]).toEqual([
      false,
      true,
    ]);
  });
});
