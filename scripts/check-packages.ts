/**
 * Checks what users would install: packs every package from its staged directory, lints the tarball with
 * `publint` and `attw`, installs all of them side by side and imports each entry point with plain Node, which
 * refuses to run TypeScript there, so that an export that still points to a source fails.
 *
 * Needs built packages: `npm run check:types` builds them.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { stageAll } from "./stage.ts"
import { type Package, publishable, readManifest, root } from "./workspace.ts"

const execute = promisify(execFile)
const run = async (command: string, args: ReadonlyArray<string>, cwd = root): Promise<string> => {
  try {
    return (await execute(command, [...args], { cwd })).stdout
  } catch (error) {
    const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string }
    throw new Error(`${[command, ...args].join(" ")}\n${stdout}${stderr}`, { cause: error })
  }
}

/** A directory as after `npm install` of all tarballs; what they depend on is taken from the workspace. */
const makeHost = (directory: string): string => {
  const modules = join(directory, "node_modules")
  mkdirSync(join(modules, "@billwright"), { recursive: true })
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name.startsWith(".") || name === "@billwright" || name === "billwright") continue
    symlinkSync(join(root, "node_modules", name), join(modules, name))
  }
  return modules
}

const checkTarball = async ({ manifest, staged }: Package, tarballs: string, modules: string) => {
  const [packed] = JSON.parse(
    await run("npm", ["pack", "--json", "--pack-destination", tarballs], staged),
  ) as [{ readonly filename: string; readonly size: number; readonly entryCount: number }]
  const tarball = join(tarballs, packed.filename)
  const installed = join(modules, manifest.name)
  mkdirSync(installed, { recursive: true })
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed])
  await run("publint", ["run", "--strict", tarball])
  await run("attw", ["--profile", "esm-only", "--format", "ascii", "--no-emoji", tarball])
  const kilobytes = Math.ceil(packed.size / 1024)
  console.log(`${manifest.name}@${manifest.version}: ${packed.entryCount} files, ${kilobytes} kB packed`)
}

const importEntryPoints = async ({ manifest }: Package, host: string) => {
  const installed = readManifest(join(host, "node_modules", manifest.name))
  const entryPoints = Object.keys(installed.exports ?? {}).filter((path) => path !== "./package.json")
  for (const path of entryPoints) {
    const specifier = `${manifest.name}${path.slice(1)}`
    await run("node", ["--input-type=module", "--eval", `await import("${specifier}")`], host)
  }
  for (const target of Object.values((installed.bin ?? {}) as Record<string, string>)) {
    if (!existsSync(join(host, "node_modules", manifest.name, target))) {
      throw new Error(`${manifest.name}: bin ${target} is not in the package`)
    }
  }
}

const directory = mkdtempSync(join(tmpdir(), "billwright-packages-"))
try {
  stageAll()
  const modules = makeHost(directory)
  const packages = publishable()
  await Promise.all(packages.map((each) => checkTarball(each, directory, modules)))
  await Promise.all(packages.map((each) => importEntryPoints(each, directory)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
