import { expect, test } from 'vitest';
import { complaints, load } from './files.fixture.ts';

const suiteOf = (router: string) => load(`router: { name: r, ${router} }`).router.suite;

test('the suite beside cnpd is FRR unless the file says otherwise', () => {
  expect(load('router: { name: r }').router).not.toHaveProperty('suite');
  expect(suiteOf('suite: frr')).toBeUndefined();
  expect(suiteOf('suite: none')).toEqual({ name: 'none' });
  expect(suiteOf('suite: holo')).toEqual({ name: 'holo', target: '127.0.0.1:50051' });
  expect(suiteOf("suite: holo, holo: { grpc: '[::1]:50052' }")).toEqual({ name: 'holo', target: '[::1]:50052' });
});

test('another suite, and a Holo that is elsewhere, are refused', () => {
  expect(complaints('router: { name: r, suite: bird }')[0]).toMatch(/router.suite: .*frr, holo, none/);
  expect(complaints('router: { name: r, suite: holo, holo: { grpc: 192.0.2.9:50051 } }')[0]).toMatch(/another machine/);
});
