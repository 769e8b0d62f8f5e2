// The scenes of congestion, by name. The first is what plain `npm run demo` shows.
import type { Scene } from './scene.ts';
import { bgp } from './scenes/bgp.ts';
import { longhaul } from './scenes/longhaul.ts';
import { proxy } from './scenes/proxy.ts';
import { source } from './scenes/source.ts';
import { srv6Wan } from './scenes/srv6-wan.ts';

export const SCENES: readonly [Scene, ...Scene[]] = [proxy, longhaul, source, srv6Wan, bgp];
