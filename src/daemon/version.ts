// The version in package.json, inserted when the bundle is built.
import manifest from '../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
