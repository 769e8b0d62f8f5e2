import { test } from 'vitest';
import { NLPID_IPV4, NLPID_IPV6 } from './protocols-supported.ts';
import { expectVector } from './vector.fixture.ts';

test('TLV 129 lists NLPIDs: 0xCC is IPv4, 0x8E IPv6', () => {
  expectVector(129, 'cc8e', { kind: 'protocols-supported', nlpids: [NLPID_IPV4, NLPID_IPV6] });
});
