// E1: the tables by which the program that learns Queue Pairs knows whose a packet is.
import { expect, test } from 'vitest';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { mappedAddress } from '../kernel/dataplane/layout.ts';
import { tunnelKey } from '../kernel/dataplane/srv6.ts';
import { TENANT_CONFIG_KEY, TENANT_MAPS, encodeTenant, encodeTenantConfig } from '../kernel/dataplane/tenants.ts';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { silentLog } from '../model/log.ts';
import { prefix } from '../model/prefix.ts';
import type { TenantsPlan } from '../plan/desired.ts';
import { TenantTables } from './tenants.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

/** Maps that outlive the agent, as pinned ones do. */
class Maps {
  readonly content = new Map<string, Map<string, string>>(Object.values(TENANT_MAPS).map((name) => [name, new Map()]));
  /** What was written, in order. */
  readonly written: string[] = [];
  readonly object: BpfObject;

  constructor() {
    this.of('config').set(hex(TENANT_CONFIG_KEY), hex(encodeTenantConfig({ known: false, hasRows: false })));
    this.object = { map: (name: string) => this.#map(name) } as unknown as BpfObject;
  }
  of = (name: keyof typeof TENANT_MAPS): Map<string, string> => this.content.get(TENANT_MAPS[name])!;
  config = (): string | undefined => this.of('config').get(hex(TENANT_CONFIG_KEY));
  #map(name: string) {
    const rows = this.content.get(name)!;
    return {
      lookup: (key: Uint8Array) => (rows.has(hex(key)) ? bytes(rows.get(hex(key))!) : undefined),
      update: (key: Uint8Array, value: Uint8Array) => (this.written.push(name), void rows.set(hex(key), hex(value))),
      delete: (key: Uint8Array) => rows.delete(hex(key)),
      keys: () => [...rows.keys()].map(bytes),
    };
  }
}

const RED = { id: 'red', sid: address('2001:db8:c::1'), tenant: 100 };
const BLUE = { id: 'blue', sid: address('2001:db8:d::1'), tenant: 0x8000_0001 };
const PORT = { id: 'eth3, any sender', ingressIfindex: 3, sender: null, tenant: 100 };
const PLAN: TenantsPlan = {
  sids: [RED, BLUE],
  ports: [PORT, { id: 'eth4', ingressIfindex: 4, sender: prefix('10.1.0.0/16'), tenant: 7 }],
  known: true,
};
const config = (known: boolean, hasRows: boolean): string => hex(encodeTenantConfig({ known, hasRows }));
const sidRow = ({ sid, tenant }: typeof RED): [string, string] => [hex(mappedAddress(sid)), hex(encodeTenant(tenant))];
const portRow = (ifindex: number, from: string, tenant: number): [string, string] => [
  hex(tunnelKey(ifindex, prefix(from))),
  hex(encodeTenant(tenant)),
];

function open(maps: Maps): { readonly tables: TenantTables; readonly pass: () => void } {
  const clock = manualClock();
  const tables = new TenantTables(maps.object, { clock, work: new ManualWork(), log: silentLog, count: () => {} });
  return {
    tables,
    pass: () => {
      for (const each of tables.reconcilers) each.fullPass();
      clock.advance(1000);
    },
  };
}

test('SIDs, and ports by interface and source: a row for any source becomes one per family', () => {
  const maps = new Maps();
  open(maps).tables.apply(PLAN);
  expect([...maps.of('sids')].sort()).toEqual([sidRow(RED), sidRow(BLUE)].sort());
  expect([...maps.of('ports')].sort()).toEqual(
    [portRow(3, '0.0.0.0/0', 100), portRow(3, '::/0', 100), portRow(4, '10.1.0.0/16', 7)].sort(),
  );
  expect(maps.config()).toBe(config(true, true));
});

test('changed rows are updated, missing ones removed, and the configuration says whether ports have rows', () => {
  const maps = new Maps();
  const { tables } = open(maps);
  tables.apply(PLAN);
  tables.apply({ ...PLAN, ports: [], sids: [RED, { ...BLUE, tenant: 0xffff_ffff }] });
  expect([...maps.of('sids')].sort()).toEqual([sidRow(RED), sidRow({ ...BLUE, tenant: 0xffff_ffff })].sort());
  expect([...maps.of('ports')]).toEqual([]);
  expect(maps.config()).toBe(config(true, false));
});

test('a router without tenants has one address space', () => {
  const maps = new Maps();
  const { tables, pass } = open(maps);
  tables.apply(PLAN);
  pass();
  tables.apply(undefined);
  expect(maps.config()).toBe(config(false, false));
});

test('the tables are written before the configuration: no tunnel has the wrong tenant in between', () => {
  const maps = new Maps();
  open(maps).tables.apply(PLAN);
  expect(maps.written.at(-1)).toBe(TENANT_MAPS.config);
});

test('after a restart, until the carriers have had time, learned rows stay, and a tunnel without a known SID has no tenant', () => {
  const maps = new Maps();
  open(maps).tables.apply(PLAN);
  const { tables, pass } = open(maps);
  tables.apply({ sids: [], ports: [], known: false });
  pass();
  expect([...maps.of('sids').keys()].sort()).toEqual([sidRow(RED)[0], sidRow(BLUE)[0]].sort());
  expect(maps.config()).toBe(config(true, false));
  tables.apply({ sids: [RED], ports: [], known: true });
  tables.forgetUnknown();
  pass();
  expect([...maps.of('sids')]).toEqual([sidRow(RED)]);
  expect(maps.config()).toBe(config(true, false));
  tables.apply(undefined);
  pass();
  expect({ sids: [...maps.of('sids')], config: maps.config() }).toEqual({ sids: [], config: config(false, false) });
});

test('a first run forgets at once', () => {
  const maps = new Maps();
  const { tables, pass } = open(maps);
  tables.apply(PLAN);
  tables.apply({ ...PLAN, sids: [RED] });
  pass();
  expect([...maps.of('sids')]).toEqual([sidRow(RED)]);
});

test('the full pass corrects rows that another program added or removed', () => {
  const maps = new Maps();
  const { tables, pass } = open(maps);
  tables.apply(PLAN);
  maps.of('ports').set(...portRow(9, '::/0', 1));
  maps.of('ports').delete(portRow(3, '::/0', 100)[0]);
  maps.of('config').set(hex(TENANT_CONFIG_KEY), config(false, false));
  pass();
  expect([...maps.of('ports')].sort()).toEqual(
    [portRow(3, '0.0.0.0/0', 100), portRow(3, '::/0', 100), portRow(4, '10.1.0.0/16', 7)].sort(),
  );
  expect(maps.config()).toBe(config(true, true));
});
