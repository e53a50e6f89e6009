/**
 * Checks whether Billwright runs on this version of Node. It imports nothing, so that it can run before everything else
 * is loaded.
 */

/** The oldest supported version of Node, the same as in `engines` of the packages. */
export const OLDEST = "22.19"

const toNumbers = (version: string): readonly [major: number, minor: number] => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return [major, minor]
}

/** The version of Node. `undefined` in Bun, Deno and workers. */
const running = (): string | undefined => {
  const versions = (globalThis as { readonly process?: { readonly versions?: NodeJS.ProcessVersions } })
    .process?.versions
  return versions?.["bun"] === undefined && versions?.["deno"] === undefined ? versions?.node : undefined
}

/** An error message when this Node is too old; `undefined` otherwise. */
export const problemOfNode = (version: string | undefined = running()): string | undefined => {
  if (version === undefined) return undefined
  const [major, minor] = toNumbers(version)
  const [oldestMajor, oldestMinor] = toNumbers(OLDEST)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return `Billwright needs Node ${OLDEST} or later, and this is Node ${version}`
}
