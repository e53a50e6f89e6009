/**
 * Checks what users would install. It packs every package from its staged directory, checks the tarball with
 * `publint` and `attw`, installs all of them side by side and imports each entry point with plain Node. Node refuses
 * to run TypeScript there, so an export that still points to a source fails.
 *
 * Needs built packages: `npm run check:types` builds them.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Spec, Validation } from "@cyclonedx/cyclonedx-library"
import { SBOM } from "./bundle-contents.ts"
import { bundleOf, commandOf } from "./bundle.ts"
import { stageAll } from "./stage.ts"
import { link, pack, run, unpack } from "./Tarballs.ts"
import { type Package, publishable, readManifest, root } from "./workspace.ts"

/** All packages of others that are installed in the workspace. */
const foreign = (): ReadonlyArray<string> =>
  readdirSync(join(root, "node_modules")).filter(
    (name) => !name.startsWith(".") && name !== "@billwright" && name !== "billwright",
  )

const checkTarball = async (each: Package, host: string) => {
  const tarball = await pack(each, host)
  await unpack(tarball, host)
  await run("publint", ["run", "--strict", tarball.file])
  await run("attw", ["--profile", "esm-only", "--format", "ascii", "--no-emoji", tarball.file])
  const { name, version } = each.manifest
  console.log(`${name}@${version}: ${tarball.entryCount} files, ${Math.ceil(tarball.size / 1024)} kB packed`)
}

interface Component {
  readonly name: string
  readonly group?: string
}

/**
 * The packages of which a bundle surely has code: its own dependencies, and those of our packages that it has, but for what
 * stays outside of it. Read from the manifests, and not from what the bundler says.
 */
const bundledBy = ({ manifest }: Package, names: ReadonlySet<string>): ReadonlyArray<string> => {
  const external = new Set([
    ...(bundleOf(manifest)?.external ?? []),
    ...(bundleOf(manifest)?.onPeers?.peers ?? []),
    ...(commandOf(manifest)?.external ?? []),
  ])
  const own = publishable().filter(
    (each) => each.manifest.name === manifest.name || names.has(each.manifest.name),
  )
  const asked = own.flatMap((each) => Object.keys((each.manifest["dependencies"] ?? {}) as object))
  return [...new Set(asked)].filter((name) => name !== manifest.name && !external.has(name))
}

/** Fails unless the bill of materials of a bundled package is valid, and has what the bundle surely has. */
const checkContents = async (each: Package) => {
  const { manifest, staged } = each
  const file = join(staged, SBOM)
  if (!existsSync(file)) return
  const text = readFileSync(file, "utf8")
  const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  if (problems !== null)
    throw new Error(`${manifest.name}: ${file} is not valid: ${JSON.stringify(problems)}`)
  const { components } = JSON.parse(text) as { readonly components: ReadonlyArray<Component> }
  const names = new Set(
    components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`)),
  )
  const missing = bundledBy(each, names).filter((name) => !names.has(name))
  if (missing.length > 0) throw new Error(`${manifest.name}: ${file} lacks ${missing.join(", ")}`)
}

const importEntryPoints = async ({ manifest }: Package, host: string) => {
  const installed = readManifest(join(host, "node_modules", manifest.name))
  const entryPoints = Object.keys(installed.exports ?? {}).filter((path) => path !== "./package.json")
  for (const path of entryPoints) {
    const specifier = `${manifest.name}${path.slice(1)}`
    await run("node", ["--input-type=module", "--eval", `await import("${specifier}")`], host)
  }
  for (const target of Object.values((installed.bin ?? {}) as Record<string, string>)) {
    const program = join(host, "node_modules", manifest.name, target)
    if (!existsSync(program)) throw new Error(`${manifest.name}: bin ${target} is not in the package`)
    await run("node", [program, "--version"], host)
  }
}

const directory = mkdtempSync(join(tmpdir(), "billwright-packages-"))
try {
  await stageAll()
  link(foreign(), directory)
  const packages = publishable()
  await Promise.all(packages.map(checkContents))
  await Promise.all(packages.map((each) => checkTarball(each, directory)))
  await Promise.all(packages.map((each) => importEntryPoints(each, directory)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
