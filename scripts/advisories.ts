/**
 * Looks up the packages of the lockfile in a copy of published advisories: a folder of files in the format of
 * https://ossf.github.io/osv-schema, as https://github.com/github/advisory-database and https://osv.dev offer it.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import semver from "semver"
import { root } from "./workspace.ts"

interface Event {
  readonly introduced?: string
  readonly fixed?: string
  readonly last_affected?: string
}

interface Advisory {
  readonly id: string
  readonly modified: string
  readonly withdrawn?: string
  readonly summary?: string
  readonly affected?: ReadonlyArray<{
    readonly package?: { readonly ecosystem: string; readonly name: string }
    readonly ranges?: ReadonlyArray<{ readonly type: string; readonly events: ReadonlyArray<Event> }>
    readonly versions?: ReadonlyArray<string>
    readonly database_specific?: { readonly last_known_affected_version_range?: string }
  }>
}

export interface Installed {
  readonly name: string
  readonly version: string
}

/** A package of the lockfile that an advisory is about. */
export interface Finding extends Installed {
  readonly id: string
  readonly summary: string
}

export interface Looked {
  readonly findings: ReadonlyArray<Finding>
  /** How many advisories the copy has. */
  readonly advisories: number
  /** The date of the newest one: the copy has nothing that came later. */
  readonly newest: string
}

/** The packages of registries that a lockfile installs. */
export const installed = (lockfile = join(root, "package-lock.json")): ReadonlyArray<Installed> => {
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as {
    readonly packages: Readonly<
      Record<string, { readonly name?: string; readonly version?: string; readonly link?: boolean }>
    >
  }
  return Object.entries(packages).flatMap(([path, { link, name, version }]) => {
    const folder = path.split("node_modules/").at(-1)!
    const isForeign = path.includes("node_modules/") && link !== true && version !== undefined
    return isForeign ? [{ name: name ?? folder, version }] : []
  })
}

/** The version at which an event happens. */
const versionOf = ({ fixed, introduced, last_affected: last }: Event): string => {
  const version = introduced ?? fixed ?? last ?? "0"
  return semver.valid(version) ?? "0.0.0-0"
}

/** Events may come in any order. */
const inOrder = (events: ReadonlyArray<Event>): ReadonlyArray<Event> =>
  events.toSorted((a, b) => semver.compare(versionOf(a), versionOf(b)))

/**
 * The ranges of the versions between events, in their order. `0` is before every version. Without an end, all later ones are affected, or
 * those of the range that the source knows of.
 */
const rangesOf = (events: ReadonlyArray<Event>, known: string | undefined): ReadonlyArray<string> =>
  events.flatMap(({ introduced }, index) => {
    if (introduced === undefined) return []
    const from = introduced === "0" ? ">=0.0.0-0" : `>=${introduced}`
    const { fixed, last_affected: last } = events[index + 1] ?? {}
    if (fixed !== undefined) return [`${from} <${fixed}`]
    if (last !== undefined) return [`${from} <=${last}`]
    return [known === undefined ? from : `${from} ${known}`]
  })

const isAffected = (version: string, affected: NonNullable<Advisory["affected"]>[number]): boolean => {
  const known = affected.database_specific?.last_known_affected_version_range
  const ranges = (affected.ranges ?? [])
    .filter(({ type }) => type === "SEMVER" || type === "ECOSYSTEM")
    .flatMap(({ events }) => rangesOf(inOrder(events), known))
  return (
    affected.versions?.includes(version) === true ||
    ranges.some((range) => semver.satisfies(version, range, { includePrerelease: true }))
  )
}

/** Looks up packages in the advisories below a folder. Withdrawn ones don't count. */
export const lookUp = (packages: ReadonlyArray<Installed>, folder: string): Looked => {
  const versions = Map.groupBy(packages, ({ name }) => name)
  const findings: Array<Finding> = []
  let [advisories, newest] = [0, ""]
  for (const file of globSync("**/*.json", { cwd: folder })) {
    const {
      affected = [],
      id,
      modified,
      summary = "",
      withdrawn,
    } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Advisory
    advisories += 1
    if (modified > newest) newest = modified
    if (withdrawn !== undefined) continue
    for (const each of affected) {
      if (each.package?.ecosystem !== "npm") continue
      const own = versions.get(each.package.name) ?? []
      for (const { name, version } of own) {
        if (isAffected(version, each)) findings.push({ name, version, id, summary })
      }
    }
  }
  return { findings, advisories, newest }
}
