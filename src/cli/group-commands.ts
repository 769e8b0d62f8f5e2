// `cnpctl group join|leave|restart|list` and `cnpctl show groups …`.
import { type Command, InvalidArgumentError } from 'commander';
import { parseAddress, sameAddress } from '../model/address.ts';
import type { Row } from '../model/state.ts';
import { type View, few, layOut } from './columns.ts';
import { type Act, type Context, print, printJson, usage, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Filters, addFilters, filterRows, filtered, isFiltered } from './filters.ts';
import { onSetSocket } from './set-socket.ts';
import { GROUP_VIEWS, treeLines } from './group-views.ts';
import { formatPairs } from './table.ts';

function ipv6(text: string): string {
  if (parseAddress(text)?.family !== 6) throw new InvalidArgumentError('allowed: an IPv6 address.');
  return text;
}

function nameOrIpv6(text: string): string {
  // No name in the file has a colon: a mistyped address is not taken for a name.
  return text.includes(':') || parseAddress(text) !== undefined ? ipv6(text) : text;
}

function whole(text: string): string {
  if (!/^-?\d{1,20}$/.test(text)) throw new InvalidArgumentError('allowed: a whole number, in decimal.');
  return text;
}

interface Member {
  readonly receiver?: string;
  readonly source?: string;
}

interface Join extends Member {
  readonly qpn?: string;
  readonly edge?: string;
  readonly psnDelta?: string;
  readonly vaDelta?: string;
  readonly rKey?: string;
  readonly startPsn?: string;
  readonly designatedQpn?: string;
  readonly name?: string;
  readonly persistent?: boolean;
}

export function addGroup(program: Command, act: Act): void {
  const group = program.command('group').description('members of End.MT groups, declared at run time');
  group
    .command('join')
    .description('declare a member, or change it; cnpd checks the values as it does those of cnpd.yaml')
    .argument('<group>', 'name or Proxy Address', nameOrIpv6)
    .option('--receiver <address>', 'a receiver', ipv6)
    .option('--source <address>', 'the source, instead of a receiver', ipv6)
    .option(
      '--qpn <n>',
      'its Queue Pair (of a source: that of cnpd.yaml; until it is known, the source gets no answers)',
      whole,
    )
    .option('--edge <sid>', 'of a receiver: End.MT SID of its edge (default: that of the nearest router)', ipv6)
    .option('--psn-delta <n>', "of a receiver: its first PSN minus the source's, modulo 2^24: 0 to 16777215", whole)
    .option('--va-delta <n>', 'of a receiver: added to the virtual address of WRITEs', whole)
    .option('--r-key <n>', 'of a receiver: R_Key of WRITEs', whole)
    .option('--start-psn <n>', 'of a source: PSN of its first packet; it is only shown', whole)
    .option('--designated-qpn <n>', 'the remote Queue Pair of all members, unless cnpd.yaml has the group', whole)
    .option('--name <name>', 'of the group, for people')
    .option('--persistent', 'keep it over a reboot')
    .action(act(join));
  group
    .command('leave')
    .description('remove a member that was declared at run time')
    .argument('<group>', 'name or Proxy Address', nameOrIpv6)
    .option('--receiver <address>', 'a receiver', ipv6)
    .option('--source [address]', 'the source')
    .action(act(leave));
  group
    .command('restart')
    .description('at the root: begin the stream of the source anew, over the same Queue Pairs from other PSNs')
    .argument('<group>', 'name or Proxy Address', nameOrIpv6)
    .action(act(restart));
  addFilters(group.command('list'), GROUP_VIEWS.declared)
    .description('members that this router declares, in cnpd.yaml and at run time')
    .action(act(listDeclared));
}

async function join(context: Context, nameOrAddress: string, options: Join): Promise<ExitCode> {
  const { receiver, source } = options;
  if ((receiver === undefined) === (source === undefined))
    return usage(context, 'name one member: --receiver ADDRESS or --source ADDRESS');
  const group = await proxyAddressOf(onSetSocket(context), nameOrAddress);
  if (group === undefined) return EXIT.problem;
  const { qpn, edge, psnDelta, vaDelta, rKey, startPsn } = options;
  const member = {
    role: receiver === undefined ? 'source' : 'receiver',
    address: (receiver ?? source)!,
  };
  const given = { qpn, edge, 'psn-delta': psnDelta, 'va-delta': vaDelta, 'r-key': rKey, 'start-psn': startPsn };
  const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const ofGroup = {
    ...(options.designatedQpn !== undefined && { 'designated-qpn': options.designatedQpn }),
    ...(options.name !== undefined && { name: options.name }),
  };
  await withCnpd(onSetSocket(context), (client) =>
    client.set({
      replace: [{ group, member, value: { ...values, persistent: options.persistent ?? false } }],
      ...(Object.keys(ofGroup).length > 0 && { update: [{ group, value: ofGroup }] }),
    }),
  );
  if (context.options.output === 'json') printJson(context, { group, ...member });
  else print(context, [`${member.role} ${member.address} joined ${group}`]);
  return EXIT.ok;
}

const groupsOf = async (context: Context, list: string): Promise<Row[]> =>
  ((await withCnpd(context, (client) => client.get(['cnpd', 'groups', list]))) as Row[] | undefined) ?? [];

const same = (a: unknown, b: string): boolean => {
  const [one, other] = [parseAddress(String(a)), parseAddress(b)];
  return one !== undefined && other !== undefined && sameAddress(one, other);
};

const membersOf = (row: Row | undefined): readonly Row[] => (row?.['member'] as Row[] | undefined) ?? [];

/** The Proxy Address of a group. A name is looked up among those that this router knows. Undefined: it was reported. */
async function proxyAddressOf(context: Context, nameOrAddress: string): Promise<string | undefined> {
  if (parseAddress(nameOrAddress)?.family === 6) return nameOrAddress;
  const groups = await groupsOf(context, 'group');
  const found = groups.filter((row) => row['name'] === nameOrAddress).map((row) => String(row['proxy-address']));
  if (found.length === 1) return found[0];
  context.err(
    found.length > 1
      ? `cnpctl: several groups have the name ${nameOrAddress}; use the Proxy Address: ${found.join(', ')}\n`
      : `cnpctl: no group has the name ${nameOrAddress}; use the Proxy Address for a new one${hintOf(groups)}\n`,
  );
  return undefined;
}

async function leave(
  context: Context,
  nameOrAddress: string,
  { receiver, source }: { receiver?: string; source?: string | true },
): Promise<ExitCode> {
  if ((receiver === undefined) === (source === undefined))
    return usage(context, 'name one member: --receiver ADDRESS or --source');
  const setting = onSetSocket(context);
  const group = await proxyAddressOf(setting, nameOrAddress);
  if (group === undefined) return EXIT.problem;
  const known = membersOf((await groupsOf(setting, 'group')).find((row) => same(row['proxy-address'], group))).filter(
    (row) =>
      receiver === undefined
        ? row['role'] === 'source' && (source === true || same(row['address'], source!))
        : row['role'] === 'receiver' && same(row['address'], receiver),
  );
  const found = known.find((row) => row['origin'] === 'run-time') ?? known[0];
  if (!found) {
    context.err(`cnpctl: this router declares no such member of ${group}\n`);
    return EXIT.problem;
  }
  const member = { role: String(found['role']), address: String(found['address']) };
  await withCnpd(setting, (client) => client.set({ delete: [{ group, member }] }));
  if (context.options.output === 'json') printJson(context, { group, ...member });
  else print(context, [`${member.role} ${member.address} left ${group}`]);
  return EXIT.ok;
}

async function restart(context: Context, nameOrAddress: string): Promise<ExitCode> {
  const setting = onSetSocket(context);
  const group = await proxyAddressOf(setting, nameOrAddress);
  if (group === undefined) return EXIT.problem;
  await withCnpd(setting, (client) => client.restartGroup(group));
  if (context.options.output === 'json') printJson(context, { group });
  else print(context, [`${group}: the stream begins anew`]);
  return EXIT.ok;
}

type Table = Pick<View, 'columns' | 'empty'>;

function show(context: Context, view: Table, all: readonly Row[], filters: Filters): ExitCode {
  const rows = filterRows(view, all, filters);
  if (context.options.output === 'json') printJson(context, rows);
  else print(context, layOut(filtered(view, all, filters), rows, context));
  return EXIT.ok;
}

async function listDeclared(context: Context, filters: Filters): Promise<ExitCode> {
  const rows = (await groupsOf(context, 'group')).flatMap((row) =>
    membersOf(row).map((member) => ({ group: row['proxy-address'], name: row['name'], ...member })),
  );
  return show(context, GROUP_VIEWS.declared, rows, filters);
}

const NO_FILTER = '--prefix cannot be applied to a tree; allowed with: members, receivers, branches';
const PARTS = ['members', 'tree', 'branches', 'receivers'] as const;

export function addShowGroups(parent: Command, act: Act): void {
  addFilters(parent.command('groups'), GROUP_VIEWS.groups)
    .description('End.MT groups; with a name or Proxy Address: all of one, or a part of it')
    .argument('[group]', 'name or Proxy Address')
    .argument('[part]', PARTS.join(', '))
    .action(act(showGroups));
}

/** Names are not advertised, so a router knows only those of the groups that it declares. */
const hintOf = (groups: readonly Row[]): string => {
  const others = groups.filter((row) => row['name'] === undefined).map((row) => row['proxy-address']);
  return others.length === 0
    ? ''
    : `; groups that only other routers declare have no name here, use the Proxy Address: ${few(others, ', ')}`;
};

async function showGroups(
  context: Context,
  name: string | undefined,
  part: string | undefined,
  filters: Filters,
): Promise<ExitCode> {
  if (isFiltered(filters) && name !== undefined && (part === undefined || part === 'tree'))
    return usage(context, `show groups ${name}: ${NO_FILTER}`);
  const groups = await groupsOf(context, 'group');
  if (name === undefined) return show(context, GROUP_VIEWS.groups, groups, filters);
  if (part !== undefined && !(PARTS as readonly string[]).includes(part))
    return usage(context, `show groups ${name}: found "${part}"; allowed: ${PARTS.join(', ')}`);
  const group = groups.find((row) => row['name'] === name || same(row['proxy-address'], name));
  if (!group) {
    context.err(`cnpctl: no group has the name or the Proxy Address ${name}${hintOf(groups)}\n`);
    return EXIT.problem;
  }
  const id = String(group['proxy-address']);
  const ofGroup = async (list: string): Promise<Row[]> =>
    (await groupsOf(context, list)).filter((row) => row['group'] === id);
  if (part === 'members') return show(context, GROUP_VIEWS.members, await ofGroup('members'), filters);
  if (part === 'receivers')
    return show(
      context,
      GROUP_VIEWS.members,
      (await ofGroup('members')).filter((row) => row['role'] === 'receiver'),
      filters,
    );
  if (part === 'branches') return show(context, GROUP_VIEWS.branches, await ofGroup('branches'), filters);
  const tree = await ofGroup('tree');
  if (part === 'tree') {
    if (context.options.output === 'json') printJson(context, tree);
    else print(context, treeLines(tree, context.width));
    return EXIT.ok;
  }
  return showWhole(context, group, tree, await ofGroup('members'), await ofGroup('branches'));
}

function showWhole(
  context: Context,
  group: Row,
  tree: readonly Row[],
  members: readonly Row[],
  branches: readonly Row[],
): ExitCode {
  if (context.options.output === 'json') {
    printJson(context, { group, members, branches, tree });
    return EXIT.ok;
  }
  const rows = (view: Table, of: readonly Row[]) => layOut(view, of, context);
  const cell = (key: string) => group[key] as string | number | undefined;
  print(context, [
    ...formatPairs([
      ['Proxy Address', cell('proxy-address')],
      ['name', cell('name')],
      ['Designated QPN', cell('designated-qpn')],
      ['role here', ((group['roles'] as string[] | undefined) ?? []).join(', ')],
      ['tree', cell('tree')],
      ['epoch', cell('epoch')],
      ['state', cell('status')],
    ]),
    ...['', ...rows(GROUP_VIEWS.members, members)],
    ...['', ...treeLines(tree, context.width)],
    ...['', ...rows(GROUP_VIEWS.branches, branches)],
  ]);
  return EXIT.ok;
}
