import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TopologyProblem } from './topology-reader.ts';
import { type Topology, containerName, parseTopology } from './topology.ts';

function parsed(text: string): Topology {
  const result = parseTopology(text, '/labs/x/x.clab.yml');
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

function problems(text: string): TopologyProblem[] {
  const result = parseTopology(text, '/labs/x/x.clab.yml');
  if (result.ok) throw new Error('was accepted');
  return result.error;
}

const NODES = `
  nodes:
    a: {kind: linux}
    b: {kind: linux}`;

test('names are containerlab’s: prefix, lab, node', () => {
  expect(containerName('clab', 'lab', 'n')).toBe('clab-lab-n');
  expect(containerName('', 'lab', 'n')).toBe('n');
  expect(containerName('__lab-name', 'lab', 'n')).toBe('lab-n');
  expect(parsed(`name: x\ntopology:${NODES}`).nodes.map((n) => n.container)).toEqual(['clab-x-a', 'clab-x-b']);
});

test('a node takes from defaults, kind and group, in this order: maps and lists add up, single values override', () => {
  const [node] = parsed(`
name: x
topology:
  defaults: {kind: linux, env: {A: default, B: default}, exec: [first], cmd: one}
  kinds:
    linux: {env: {B: kind, C: kind}, binds: ["c:/etc/c"]}
  groups:
    g: {exec: ["second 'and third'"], env: {C: group}, binds: ["other:/etc/c:ro"], cmd: two}
  nodes:
    a: {group: g, exec: [fourth], env: {D: 4}, sysctls: {net.ipv4.ip_forward: 1}}`).nodes;
  expect(node).toEqual({
    name: 'a',
    container: 'clab-x-a',
    env: { A: 'default', B: 'kind', C: 'group', D: '4' },
    exec: [['first'], ['second', 'and third'], ['fourth']],
    binds: [{ source: '/labs/x/other', target: '/etc/c', readOnly: true }],
    sysctls: { 'net.ipv4.ip_forward': '1' },
    cmd: ['two'],
  });
});

test('binds are relative to the file, and know the node’s name', () => {
  const [node] = parsed(
    'name: x\ntopology:\n  nodes:\n' +
      '    a: {kind: linux, binds: ["__clabNodeName__/frr.conf:/etc/frr/frr.conf", "/abs:/run/x:rw"]}',
  ).nodes;
  expect(node!.binds).toEqual([
    { source: '/labs/x/a/frr.conf', target: '/etc/frr/frr.conf', readOnly: false },
    { source: '/abs', target: '/run/x', readOnly: false },
  ]);
});

test('brief and extended links say the same; MTU is containerlab’s 9500 unless given', () => {
  const { links } = parsed(`
name: x
topology:${NODES}
  links:
    - endpoints: ["a:eth1", "b:eth1"]
    - {type: veth, mtu: 1500, endpoints: [{node: a, interface: eth2, mac: "02:00:00:00:00:01"}, {node: b, interface: eth2}]}
    - {endpoints: ["a:eth3", "b:eth3"], vars: {delay: 10ms, limit: 100}}`);
  expect(links).toEqual([
    { a: { node: 'a', interface: 'eth1' }, b: { node: 'b', interface: 'eth1' }, mtu: 9500, delayMs: 0, limit: 8192 },
    {
      a: { node: 'a', interface: 'eth2', mac: '02:00:00:00:00:01' },
      b: { node: 'b', interface: 'eth2' },
      mtu: 1500,
      delayMs: 0,
      limit: 8192,
    },
    { a: { node: 'a', interface: 'eth3' }, b: { node: 'b', interface: 'eth3' }, mtu: 9500, delayMs: 10, limit: 100 },
  ]);
});

test('a field that has no effect here is named with its line, and the lab is accepted', () => {
  const { withoutEffect } = parsed(`name: x
mgmt: {network: custom}
topology:
  nodes:
    a:
      kind: linux
      image: frr:9
      labels: {rack: 7}
    b: {kind: linux}
  links:
    - endpoints: ["a:eth1", "b:eth1"]
      vars: {color: red}`);
  expect(withoutEffect.map((p) => [p.path, p.line])).toEqual([
    ['mgmt', 2],
    ['topology.nodes.a.labels', 8],
    ['topology.links.0.vars.color', 12],
  ]);
});

test('a field that containerlab has and this lab lacks is refused by name, all of them at once', () => {
  const found = problems(`name: x
topology:
  nodes:
    a: {kind: linux, license: key.txt}
    b: {kind: srl}
    c: {kind: linux, network-mode: host}
    d: {kind: linux, network-mode: none}
  links:
    - {type: host, endpoint: {node: a, interface: eth1}, host-interface: veth0}`);
  expect(found.map((p) => [p.path, p.line])).toEqual([
    ['topology.nodes.a.license', 4],
    ['topology.nodes.b.kind', 5],
    ['topology.nodes.c.network-mode', 6],
    ['topology.links.0.endpoint', 9],
    ['topology.links.0.host-interface', 9],
    ['topology.links.0.type', 9],
  ]);
  expect(found[0]!.message).toContain('does not support');
});

test('a misspelled field is an error, not something unsupported', () => {
  expect(problems(`name: x\ntopology:\n  nodes:\n    a: {kind: linux, bind: []}`)).toMatchObject([
    { path: 'topology.nodes.a.bind', line: 4, message: 'is not a field of a containerlab topology' },
  ]);
});

test.each([
  ['["a:eth1"]', 'two ends'],
  ['["a:eth1", "z:eth1"]', 'no node "z"'],
  ['["a:eth1", "b:name-that-is-too-long"]', 'no interface name'],
  ['["a:eth1", "b"]', 'NODE:INTERFACE'],
  ['["a:eth1", {node: b, interface: eth1, mac: nonsense}]', 'no MAC address'],
  ['nothing', 'must be a list'],
])('endpoints %s: %s', (endpoints, message) => {
  const all = problems(`name: x\ntopology:${NODES}\n  links:\n    - endpoints: ${endpoints}`);
  expect(all.map((p) => p.message).join('\n')).toContain(message);
});

test.each([
  ['mtu: 12', 'from 1280'],
  ['mtu: big', 'from 1280'],
  ['vars: {delay: 10}', 'duration'],
  ['vars: {delay: 1m}', 'duration'],
  ['vars: {limit: 0}', 'number of frames'],
])('a link with %s is refused', (field, message) => {
  expect(
    problems(`name: x\ntopology:${NODES}\n  links:\n    - {endpoints: ["a:e", "b:e"], ${field}}`)[0]!.message,
  ).toContain(message);
});

test('an interface is the end of one link only', () => {
  expect(
    problems(
      `name: x\ntopology:${NODES}\n  links:\n    - endpoints: ["a:e", "b:e"]\n    - endpoints: ["a:e", "b:f"]`,
    )[0]!.message,
  ).toContain('end of two links');
});

test.each([
  ['', 'must be text, found nothing'],
  ['[]', 'must be a mapping, found a list'],
  ['name: [', 'Flow sequence'],
  ['name: ../x\ntopology: {nodes: {a: {kind: linux}}}', 'must match'],
  ['name: x\ntopology: {}', 'at least one node'],
  ['name: x\ntopology: {nodes: {"a/b": {kind: linux}}}', 'must match'],
  [`name: x\ntopology: {nodes: {a: {kind: linux, exec: ["sh -c 'x"]}}}`, 'quote'],
  ['name: x\ntopology: {nodes: {a: {kind: linux, binds: ["x:relative"]}}}', 'SOURCE:/absolute'],
  ['name: x\ntopology: {nodes: {a: {kind: linux, binds: ["x:/y:z"]}}}', 'options'],
])('%j is refused: %s', (text, message) => {
  expect(
    problems(text)
      .map((p) => p.message)
      .join('\n'),
  ).toContain(message);
});

test('the scene of the repository is a valid topology with a 10 ms WAN', () => {
  const file = new URL('../../containerlab/proxy/proxy.clab.yml', import.meta.url).pathname;
  const scene = parseTopology(readFileSync(file, 'utf8'), file);
  if (!scene.ok) throw new Error(JSON.stringify(scene.error));
  expect(scene.value.nodes.map((n) => n.name)).toEqual(['h1', 'leaf1', 'p1', 'p2', 'leaf2', 'h2']);
  expect(scene.value.links.filter((l) => l.delayMs > 0)).toMatchObject([
    { a: { node: 'p1', interface: 'eth2' }, b: { node: 'p2', interface: 'eth1' }, delayMs: 10 },
  ]);
});
