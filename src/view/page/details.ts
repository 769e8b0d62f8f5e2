// What is known of the selected node.
import type { NodeView } from '../model.ts';
import { el } from './dom.ts';

const code = (text: string): HTMLElement => el('code', {}, text);
const soft = (text: string): HTMLElement => el('span', { class: 'soft' }, text);

function section(title: string, items: readonly (readonly (Node | string)[])[]): HTMLElement[] {
  if (items.length === 0) return [];
  return [el('h3', {}, title), el('ul', {}, ...items.map((item) => el('li', {}, ...item)))];
}

export function details(view: NodeView): Node[] {
  const { status, kind, version, reason } = view;
  const about = status === 'none' ? kind : `cnpd ${version}`.trim();
  return [
    el('h2', {}, view.name, el('span', { class: `badge ${status}` }, status === 'none' ? 'no cnpd' : status)),
    soft(about),
    ...(reason ? [el('p', { class: 'trouble' }, `${reason}. Trying again.`)] : []),
    ...section(
      'Problems',
      view.problems.map((p) => [
        el('span', { class: 'trouble' }, `${p.feature}: ${p.problem}`),
        el('br'),
        soft(p.remedy),
      ]),
    ),
    ...section(
      'Answers for',
      view.answersFor.map((prefix) => [code(prefix)]),
    ),
    ...section(
      'Proxies it has learned',
      view.senders.map(({ prefix, proxy, proxyNode, carrier }) => [
        code(prefix),
        soft(' → '),
        proxyNode || proxy || 'nobody',
        soft(` over ${carrier}`),
      ]),
    ),
    ...section(
      'SIDs',
      view.sids.map(({ sid, behavior, status: state, isLocal }) => [
        code(sid),
        ` ${behavior}`,
        soft(` ${isLocal ? 'own' : 'learned'}, ${state}`),
      ]),
    ),
    ...section(
      'Multicast groups',
      view.groups.map(({ address, name, roles, receivers, status: state }) => [
        name || code(address),
        soft(` ${roles.join(' and ') || 'no part'}, ${receivers} receivers, ${state}`),
      ]),
    ),
    ...section(
      'Addresses',
      view.addresses.map((address) => [code(address)]),
    ),
    ...(view.omitted > 0 ? [el('p', { class: 'soft' }, `${view.omitted} more entries are not shown.`)] : []),
  ];
}
