// The lab's treatment of every field of containerlab (containerlab.dev, "Topology definition"). A field that is not in
// these tables is a mistake in the file. `no-effect`: the lab works as well without it, and says so. `refused`: the lab
// would not be what the file describes.

export type Treatment = 'supported' | 'no-effect' | 'refused';

type Fields = Readonly<Record<string, Treatment>>;

export const TOP_FIELDS: Fields = {
  name: 'supported',
  prefix: 'supported',
  topology: 'supported',
  mgmt: 'no-effect',
  settings: 'no-effect',
  debug: 'no-effect',
};

export const TOPOLOGY_FIELDS: Fields = {
  defaults: 'supported',
  kinds: 'supported',
  groups: 'supported',
  nodes: 'supported',
  links: 'supported',
};

/** Fields of a node, and of `defaults`, `kinds.X`, `groups.X`. */
export const NODE_FIELDS: Fields = {
  kind: 'supported',
  group: 'supported',
  binds: 'supported',
  exec: 'supported',
  sysctls: 'supported',
  env: 'supported',
  cmd: 'supported',
  'network-mode': 'supported', // `none` only: there is no other network than the links
  image: 'supported', // every file has one: the programs of this machine stand for it
  'image-pull-policy': 'no-effect',
  labels: 'no-effect',
  type: 'no-effect',
  position: 'no-effect',
  runtime: 'no-effect',
  'mgmt-ipv4': 'no-effect', // there is no management network: `exec` enters a node by its namespaces
  'mgmt-ipv6': 'no-effect',
  mgmt_ipv4: 'no-effect',
  mgmt_ipv6: 'no-effect',
  ports: 'no-effect',
  publish: 'no-effect',
  dns: 'no-effect',
  aliases: 'no-effect',
  cpu: 'no-effect',
  'cpu-set': 'no-effect',
  memory: 'no-effect',
  'shm-size': 'no-effect',
  'auto-remove': 'no-effect',
  'restart-policy': 'no-effect',
  healthcheck: 'no-effect',
  'cap-add': 'no-effect', // a node is root on this machine
  license: 'refused',
  entrypoint: 'refused',
  user: 'refused',
  'startup-config': 'refused',
  'startup-delay': 'refused',
  'enforce-startup-config': 'refused',
  'suppress-startup-config': 'refused',
  config: 'refused',
  'env-files': 'refused',
  devices: 'refused',
  stages: 'refused',
  'wait-for': 'refused',
  certificate: 'refused',
  extras: 'refused',
  SANs: 'refused',
  sandbox: 'refused',
  kernel: 'refused',
  credentials: 'refused',
  components: 'refused',
};

export const LINK_FIELDS: Fields = {
  type: 'supported',
  endpoints: 'supported',
  mtu: 'supported',
  vars: 'supported',
  labels: 'no-effect',
  endpoint: 'refused',
  'host-interface': 'refused',
  mode: 'refused',
  remote: 'refused',
  vni: 'refused',
  'dst-port': 'refused',
  'src-port': 'refused',
};

/** `delay` and `limit` are the lab's own reading of containerlab's free-form link variables. */
export const LINK_VARS: Fields = { delay: 'supported', limit: 'supported' };

export const ENDPOINT_FIELDS: Fields = {
  node: 'supported',
  interface: 'supported',
  mac: 'supported',
  vars: 'no-effect',
  ipv4: 'refused',
  ipv6: 'refused',
};
