// Aging: when an LSP without a refresh is purged and forgotten (ISO/IEC 10589 §7.3.16.4).
import { expect, test } from 'vitest';
import { adjacency, lsp } from '../hostile.fixture.ts';
import { systemId } from '../simulation.fixture.ts';

const IDS = ['0000.0000.00c1', '0000.0000.00c2', '0000.0000.00c3'];

/** LSPs with a lifetime of 10, 20 and 30 seconds, the last first. */
function scene() {
  const net = adjacency();
  // B does not answer: it would request them, and purge them a second earlier.
  net.wire.filter = (pdu, from) => from === 0 || pdu.kind === 'p2p-hello';
  [...IDS]
    .reverse()
    .forEach((id, i) =>
      net.a.deliver(
        lsp({ lspId: { systemId: systemId(id), pseudonode: 0, fragment: 0 }, remainingLifetime: 30 - 10 * i }),
      ),
    );
  net.simulation.run(10);
  const { byKey } = net.a.speaker.levels.get(2)!.lsdb;
  const states = (): string =>
    IDS.map((id) => byKey.get(`${id}.00-00`))
      .map((each) => (each === undefined ? '-' : each.purged ? 'p' : 'a'))
      .join('');
  return { ...net, states };
}

test('each LSP is purged within a second after its lifetime, and forgotten a minute later', () => {
  const { simulation, a, states } = scene();
  const seen: string[] = [];
  const start = simulation.now;
  for (const at of [9.9, 11.1, 19.9, 21.1, 29.9, 31.1, 69.9, 71.2, 79.9, 81.2, 89.9, 91.3]) {
    simulation.run(at * 1000 - (simulation.now - start));
    seen.push(states());
  }
  expect(seen).toEqual(['aaa', 'paa', 'paa', 'ppa', 'ppa', 'ppp', 'ppp', '-pp', '-pp', '--p', '--p', '---']);
  expect(a.count('isis.lsp.expired')).toBe(3);
});

test('a refresh in time keeps it alive; an unacknowledged purge is sent until it is forgotten', () => {
  const { simulation, a, states } = scene();
  simulation.run(5000);
  a.deliver(
    lsp({ sequence: 8, lspId: { systemId: systemId(IDS[0]!), pseudonode: 0, fragment: 0 }, remainingLifetime: 1200 }),
  );
  simulation.run(10_000);
  expect(states()).toBe('aaa');
  simulation.run(20_000);
  expect({ states: states(), state: a.state }).toEqual({ states: 'app', state: 'up' });
  simulation.run(70_000);
  const sent = a.count('isis.tx.lsp');
  simulation.run(20_000);
  expect({ states: states(), isisTxLsp: a.count('isis.tx.lsp') }).toEqual({ states: 'a--', isisTxLsp: sent });
});

test('the database is swept at most once a second: an LSP that expires 300 ms after another is purged a second after it', () => {
  const { simulation, a, give, wire } = adjacency();
  wire.filter = (pdu, from) => from === 0 || pdu.kind === 'p2p-hello';
  const [first, second] = IDS.map((id) => ({ systemId: systemId(id), pseudonode: 0, fragment: 0 }));
  give(lsp({ lspId: first!, remainingLifetime: 10 }));
  simulation.run(290);
  give(lsp({ lspId: second!, remainingLifetime: 10 }));
  simulation.until('the first is purged', () => a.count('isis.lsp.expired') === 1, 11_000);
  simulation.run(980);
  expect(a.count('isis.lsp.expired')).toBe(1);
  simulation.run(30);
  expect(a.count('isis.lsp.expired')).toBe(2);
});
