// BPF objects of a router's cnpd by kind and ID, as bpftool names them, to see whether they are freed.
import type { Router } from './network.ts';

/** `kind id` of what bpftool shows. */
export async function shownObjects(
  router: Router,
  kind: 'prog' | 'map' | 'link',
  ...which: string[]
): Promise<string[]> {
  const shown = JSON.parse(await router.exec('bpftool', '-j', kind, 'show', ...which)) as
    | { id: number; prog_id?: number }
    | { id: number }[];
  return [shown]
    .flat()
    .flatMap((row) => [`${kind} ${row.id}`, ...('prog_id' in row && which.length > 0 ? [`prog ${row.prog_id}`] : [])]);
}
/** What a router's cnpd has pinned, and the programs of its links. */
export async function ownObjects(router: Router): Promise<string[]> {
  const pins = async (dir: string): Promise<string[]> =>
    (await router.exec('find', dir, '-maxdepth', '1', '-type', 'f'))
      .trim()
      .split('\n')
      .filter((path) => !path.endsWith('.debug'));
  const maps = await Promise.all(
    (await pins('/run/cnpd/bpf')).map((path) => shownObjects(router, 'map', 'pinned', path)),
  );
  const links = await Promise.all(
    (await pins('/run/cnpd/bpf/links')).map((path) => shownObjects(router, 'link', 'pinned', path)),
  );
  return [...maps, ...links].flat().sort();
}
