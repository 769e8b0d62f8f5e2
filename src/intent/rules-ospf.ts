// Rules of `ospfv2` and `ospfv3`.
import { formatAddress } from '../model/address.ts';
import { formatPrefix, prefixContains } from '../model/prefix.ts';
import { OSPF_DEFAULTS, ospfInterface, ospfLinkOf } from './build-ospf.ts';
import { type OspfView, type Report, type Rule, type View, each, unique } from './rules-view.ts';
import type { Path } from './words.ts';

const SECTIONS = ['ospfv2', 'ospfv3'] as const;
type Section = (typeof SECTIONS)[number];

const sections = (view: View): (readonly [Section, OspfView])[] =>
  SECTIONS.flatMap((name) => (view[name] ? [[name, view[name]] as const] : []));

/** An area ID that differs in writing is the same all the same. */
const areaText = (area: number): string => formatAddress({ family: 4, value: BigInt(area) });

function areas(view: View, report: Report): void {
  for (const [name, ospf] of sections(view)) {
    if (ospf.areas?.length === 0)
      report(
        [name, 'areas'],
        'at least one area',
        'without areas there is no adjacency: remove the section or say enabled: off',
      );
    unique(
      ospf.areas,
      (i) => [name, 'areas', i, 'area'],
      ({ area }) => (area === undefined ? undefined : areaText(area)),
      'area',
      report,
    );
  }
}

/** Each area's veth, with its place in the file and its name; an interface that could not be read has none. */
export function ospfInterfaces(view: View): { readonly path: Path; readonly name: string | undefined }[] {
  return sections(view).flatMap(([section, ospf]) =>
    each(ospf.areas).map(([i, area]) => ({
      path: 'interface' in area ? [section, 'areas', i, 'interface'] : [section, 'areas', i],
      name: 'interface' in area ? area.interface : ospfInterface(section === 'ospfv2' ? 2 : 3, i),
    })),
  );
}

function timers(view: View, report: Report): void {
  for (const [name, ospf] of sections(view)) {
    for (const key of ['hello-interval', 'dead-interval'] as const) {
      const ms = ospf[key];
      if (ms !== undefined && ms % 1000 !== 0)
        report([name, key], 'whole seconds', 'OSPF counts this time in whole seconds');
    }
    const [hello, dead] = [
      ospf['hello-interval'] ?? OSPF_DEFAULTS.helloMs,
      ospf['dead-interval'] ?? OSPF_DEFAULTS.deadMs,
    ];
    if (dead > hello) continue;
    report(
      [name, 'dead-interval' in ospf ? 'dead-interval' : 'hello-interval'],
      'dead-interval above hello-interval',
      `a neighbour that says hello every ${hello / 1000} s is lost after ${dead / 1000} s`,
    );
  }
}

/** Two links with one address would be one link to the kernel. */
function links(view: View, report: Report): void {
  const seen: { readonly i: number; readonly link: ReturnType<typeof ospfLinkOf> }[] = [];
  for (const [i, area] of each(view.ospfv2?.areas)) {
    const link = 'link' in area ? area.link : ospfLinkOf(i);
    if (!link) continue;
    const other = seen.find((s) => prefixContains(s.link, link.address) || prefixContains(link, s.link.address));
    if (other)
      report(
        ['ospfv2', 'areas', i, ...('link' in area ? ['link'] : [])],
        'a prefix for each link',
        `${formatPrefix(link)} is the link of ospfv2.areas[${other.i}] too`,
      );
    seen.push({ i, link });
  }
}

function keys(view: View, report: Report): void {
  for (const [name, ospf] of sections(view)) {
    for (const [i, area] of each(ospf.areas)) {
      const path = (j: number): Path => [name, 'areas', i, 'authentication', j];
      if (area.authentication?.length === 0)
        report(
          [name, 'areas', i, 'authentication'],
          'at least one key',
          'an empty list authenticates nothing: leave it out',
        );
      const ids = new Map<number, number>();
      for (const [j, key] of each(area.authentication)) {
        const algorithms = Object.keys(key).filter((word) => word !== 'key-id');
        const one =
          name === 'ospfv2'
            ? 'one of md5, hmac-sha-1, hmac-sha-256, hmac-sha-384, hmac-sha-512'
            : 'one of hmac-sha-1, hmac-sha-256, hmac-sha-384, hmac-sha-512';
        if (algorithms.length !== 1)
          report(
            path(j),
            one,
            algorithms.length === 0
              ? 'this key has no algorithm'
              : `a key has one algorithm: this one has ${algorithms.length}`,
          );
        const id = key['key-id'];
        if (id === undefined) continue;
        if (ids.has(id))
          report([...path(j), 'key-id'], 'each key-id once', `entry ${ids.get(id)!} of this list has this ID already`);
        else ids.set(id, j);
      }
    }
  }
}

export const OSPF_RULES: readonly Rule[] = [areas, timers, links, keys];
