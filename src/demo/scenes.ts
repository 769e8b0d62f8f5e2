// The scenes of the demo, by name. The first is what plain `npm run demo` shows.
import type { Scene } from './scene.ts';
import { bgp } from './scenes/bgp.ts';
import { longhaul } from './scenes/longhaul.ts';
import { proxy } from './scenes/proxy.ts';
import { srv6Wan } from './scenes/srv6-wan.ts';

export const SCENES: readonly [Scene, ...Scene[]] = [proxy, longhaul, srv6Wan, bgp];

/** @param argv of the command: nothing, or the name of a scene; undefined: no such scene */
export function chosenScene(argv: readonly string[]): Scene | undefined {
  if (argv.length > 1) return undefined;
  const name = argv[0] ?? SCENES[0].name;
  return SCENES.find((scene) => scene.name === name);
}
