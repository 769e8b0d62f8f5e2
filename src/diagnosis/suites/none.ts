// A routing daemon that the operator configures: cnpd says what each carrier requires of it, and can check none of it.
import type { Intent, IsisIntent, OspfIntent } from '../../intent/intent.ts';
import { ConfigureError, type RouterSuite, type SuiteCheck } from '../../model/router-suite.ts';
import { formatAddress } from '../../model/address.ts';
import { formatArea } from '../../model/isis-area.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import { formatSystemId } from '../../packet/isis/lsp-id.ts';

export function foreignSuite(intent: Intent): RouterSuite {
  const { isis, ospfv2, ospfv3 } = intent;
  const requirements = [
    ...(isis ? ofIsis(isis) : []),
    ...[ospfv2, ospfv3].flatMap((section) => (section ? ofOspf(section) : [])),
    ...(intent.srv6 ? [requirement('srv6', 'SIDs', 'advertise a prefix that covers the SIDs of srv6')] : []),
  ];
  return {
    name: 'none',
    configuredAfterStart: false,
    examine: () => Promise.resolve(requirements),
    configure: () => {
      const message = 'with router.suite none the operator configures the routing daemon; nothing was changed';
      return Promise.reject(new ConfigureError('refused', message));
    },
  };
}

const requirement = (id: string, what: string, remedy: string): SuiteCheck => ({
  id: `suite.${id}`,
  claim: `the routing daemon is configured for ${what}`,
  state: 'warning',
  problem: `the routing daemon must be configured for ${what}, which cnpd cannot see`,
  remedy,
});

const LEVELS = { '1': 'level 1', '2': 'level 2', '1-2': 'levels 1 and 2' } as const;

function ofIsis({ interface: name, levels, systemId, area, mtu, authentication }: IsisIntent): SuiteCheck[] {
  const keys = Object.keys(authentication).map((scope) => `isis.authentication.${scope}`);
  const parts = [
    `IS-IS for IPv6 on ${name}, point-to-point, three-way handshake, ${LEVELS[levels]}`,
    ...(levels === '2' ? [] : [`area ${formatArea(area)}`]),
    `a system ID other than ${formatSystemId(systemId)}`,
    `LSPs and padded hellos of at most ${mtu} bytes`,
    ...(keys.length > 0 ? [`HMAC-MD5 as ${keys.join(', ')}`] : []),
  ];
  return [requirement(`isis.${name}`, `IS-IS on ${name}`, `configure ${parts.join('; ')}`)];
}

const ofOspf = ({ version, routerId, areas, helloSeconds, deadSeconds }: OspfIntent): SuiteCheck[] =>
  areas.map(({ interface: name, areaId, mtu, instanceId, link, keys }, n) => {
    const parts = [
      `OSPFv${version} on ${name}, area ${formatId(areaId)}, neither stub nor NSSA, point-to-point`,
      `hello ${helloSeconds} s, dead ${deadSeconds} s, MTU ${mtu}`,
      ...(link ? [`address ${formatAddress(link.router)}/${link.length}`, 'opaque LSAs accepted'] : []),
      ...(version === 3 ? [`instance ID ${instanceId}`] : []),
      `a router ID other than ${formatId(routerId)}`,
      ...(keys.length > 0 ? [`the keys of ospfv${version}.areas[${n}].authentication`] : []),
    ];
    return requirement(`ospfv${version}.${name}`, `OSPFv${version} on ${name}`, `configure ${parts.join('; ')}`);
  });
