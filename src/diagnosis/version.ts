// Versions of routing daemons.

export type Version = readonly [major: number, minor: number];

/** @param version as the daemon reports it, such as `10.2.1`; false if it is missing or not a number */
export function isAtLeast(version: string | undefined, [major, minor]: Version): boolean {
  const [foundMajor = 0, foundMinor = 0] = (version ?? '').split('.').map(Number);
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}
