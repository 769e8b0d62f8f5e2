import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { formatPrefix } from '../../../model/prefix.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { Lsp } from '../../../packet/isis/types.ts';
import { SENDERS, neighborLsp, routerLsps, senderLsps, senderPrefix } from './isis-network.ts';

function lsp(bytes: Uint8Array): Lsp {
  const pdu = decodePdu(bytes);
  if (!pdu.ok || pdu.value.kind !== 'lsp' || pdu.value.badTlvs.length > 0) throw new Error('not a sound LSP');
  return pdu.value;
}

test('all sender prefixes are in LSPs that fit, each once', () => {
  const lsps = senderLsps(1, address('2001:db8::1'));
  expect(Math.max(...lsps.map((l) => l.length))).toBeLessThanOrEqual(1492);
  const prefixes = lsps.flatMap((bytes) =>
    lsp(bytes).tlvs.flatMap((tlv) =>
      tlv.kind === 'ipv6-reachability' ? tlv.prefixes.map((p) => formatPrefix(p.prefix)) : [],
    ),
  );
  expect(new Set(prefixes).size).toBe(SENDERS);
  expect(prefixes).toHaveLength(SENDERS);
  expect(prefixes[SENDERS - 1]).toBe(formatPrefix(senderPrefix(SENDERS - 1)));
});

test('every foreign router is linked in both directions with the tree that the neighbor is the root of', () => {
  const links = new Set<string>();
  const name = (id: Uint8Array): string => Buffer.from(id).toString('hex');
  const all = [neighborLsp(1, true), ...routerLsps(100, 1, 10)].map(lsp);
  for (const l of all)
    for (const tlv of l.tlvs)
      if (tlv.kind === 'extended-is-reachability')
        for (const n of tlv.neighbors) links.add(`${name(l.lspId.systemId)} ${name(n.systemId)}`);
  expect(new Set(all.map((l) => name(l.lspId.systemId))).size).toBe(101);
  // All but the link to the measured agent, which answers for itself.
  const oneWay = [...links].filter((l) => !links.has(l.split(' ').reverse().join(' ')));
  expect(oneWay).toEqual(['000000000001 00000000c001']);
});
