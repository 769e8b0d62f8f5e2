/** Runs all releases one after another. One that fails does not block the others. */
export async function releaseAll(
  releases: readonly (() => unknown)[],
  onError: (error: unknown) => void,
): Promise<void> {
  for (const release of releases) await Promise.resolve().then(release).catch(onError);
}
