// The version in package.json, taken in when the bundle is built.
import manifest from '../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
