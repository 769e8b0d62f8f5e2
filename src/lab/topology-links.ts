// The links of a topology: the brief form (`endpoints: ["a:eth1", "b:eth1"]`) and the extended form of type veth.
import { parseDuration } from './units.ts';
import { ENDPOINT_FIELDS, LINK_FIELDS, LINK_VARS } from './topology-fields.ts';
import type { TopologyReader, YamlPath } from './topology-reader.ts';

interface EndpointSpec {
  readonly node: string;
  readonly interface: string;
  readonly mac?: string;
}

export interface LinkSpec {
  readonly a: EndpointSpec;
  readonly b: EndpointSpec;
  readonly mtu: number;
  /** Milliseconds in each direction, from `vars: {delay: 10ms}`; 0: a plain veth pair. */
  readonly delayMs: number;
  /** Frames held in one direction by a delayed link before it drops. */
  readonly limit: number;
}

// containerlab's default, and the kernel's bounds (IPv6 needs 1280; a TAP frame must fit 64 KiB).
const DEFAULT_MTU = 9500;
const MIN_MTU = 1280;
const MAX_MTU = 65_000;
const DEFAULT_LIMIT = 8192;
const MAX_DELAY_MS = 10_000;
// IFNAMSIZ is 16 with the terminating zero.
const INTERFACE = /^[A-Za-z0-9_.-]{1,15}$/;
const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i;

export function readLinks(reader: TopologyReader, value: unknown, nodes: ReadonlySet<string>): LinkSpec[] {
  const links: LinkSpec[] = [];
  const taken = new Set<string>();
  for (const [i, entry] of reader.list(['topology', 'links'], value).entries()) {
    const path: YamlPath = ['topology', 'links', i];
    const fields = reader.object(path, entry, LINK_FIELDS);
    const type = fields['type'] ?? 'veth';
    if (type !== 'veth') {
      reader.error(
        [...path, 'type'],
        `must be veth, found ${JSON.stringify(type)}: this lab connects nodes with each other only`,
      );
      continue;
    }
    const ends = reader
      .list([...path, 'endpoints'], fields['endpoints'])
      .map((end, k) => endpoint(reader, [...path, 'endpoints', k], end, nodes));
    if (ends.length !== 2) reader.error([...path, 'endpoints'], `a link has two ends, found ${ends.length}`);
    const [a, b] = ends;
    if (!a || !b) continue;
    for (const end of [a, b]) {
      const key = `${end.node}:${end.interface}`;
      if (taken.has(key)) reader.error([...path, 'endpoints'], `${key} is the end of two links`);
      taken.add(key);
    }
    links.push({
      a,
      b,
      mtu: mtu(reader, [...path, 'mtu'], fields['mtu']),
      ...variables(reader, [...path, 'vars'], fields['vars']),
    });
  }
  return links;
}

function endpoint(
  reader: TopologyReader,
  path: YamlPath,
  value: unknown,
  nodes: ReadonlySet<string>,
): EndpointSpec | undefined {
  let end: { node: string | undefined; interface: string | undefined; mac?: string | undefined };
  if (typeof value === 'string') {
    const parts = value.split(':');
    if (parts.length !== 2) return reader.error(path, `must read NODE:INTERFACE, found ${JSON.stringify(value)}`);
    end = { node: parts[0], interface: parts[1] };
  } else {
    const fields = reader.object(path, value, ENDPOINT_FIELDS);
    end = {
      node: reader.string([...path, 'node'], fields['node']),
      interface: reader.string([...path, 'interface'], fields['interface']),
      mac: fields['mac'] === undefined ? undefined : reader.string([...path, 'mac'], fields['mac']),
    };
  }
  if (end.node === undefined || end.interface === undefined) return undefined;
  if (!nodes.has(end.node)) return reader.error(path, `there is no node ${JSON.stringify(end.node)}`);
  if (!INTERFACE.test(end.interface))
    return reader.error(path, `${JSON.stringify(end.interface)} is no interface name (1 to 15 letters, digits, _ . -)`);
  if (end.mac !== undefined && !MAC.test(end.mac))
    return reader.error(path, `${JSON.stringify(end.mac)} is no MAC address`);
  return { node: end.node, interface: end.interface, ...(end.mac !== undefined && { mac: end.mac }) };
}

function mtu(reader: TopologyReader, path: YamlPath, value: unknown): number {
  if (value === undefined) return DEFAULT_MTU;
  if (typeof value === 'number' && Number.isInteger(value) && value >= MIN_MTU && value <= MAX_MTU) return value;
  reader.error(path, `must be a number from ${MIN_MTU} to ${MAX_MTU}`);
  return DEFAULT_MTU;
}

function variables(reader: TopologyReader, path: YamlPath, value: unknown): { delayMs: number; limit: number } {
  const free = Object.keys(reader.object(path, value)).filter((key) => !(key in LINK_VARS));
  const vars = reader.object(path, value, {
    ...LINK_VARS,
    ...Object.fromEntries(free.map((key) => [key, 'no-effect' as const])),
  });
  const delayMs =
    vars['delay'] === undefined ? 0 : parseDuration(reader.string([...path, 'delay'], vars['delay']) ?? '');
  if (delayMs === undefined || delayMs > MAX_DELAY_MS)
    reader.error([...path, 'delay'], `must be a duration up to ${MAX_DELAY_MS} ms, such as 10ms`);
  const limit = vars['limit'] ?? DEFAULT_LIMIT;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > 65_536) {
    reader.error([...path, 'limit'], 'must be a number of frames from 1 to 65536');
    return { delayMs: delayMs ?? 0, limit: DEFAULT_LIMIT };
  }
  return { delayMs: delayMs ?? 0, limit };
}
