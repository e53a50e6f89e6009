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
import { BUNDLE_FILES } from "./bundle-contents.ts"
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

/** Fails unless the bill of materials of a bundled package is valid, and has each package whose licence is in the bundle. */
const checkContents = async ({ manifest, staged }: Package) => {
  const [licenses, sbom] = BUNDLE_FILES.map((name) => join(staged, name))
  if (!existsSync(sbom!)) return
  const text = readFileSync(sbom!, "utf8")
  const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  if (problems !== null)
    throw new Error(`${manifest.name}: ${sbom} is not valid: ${JSON.stringify(problems)}`)
  const licensed = [
    ...readFileSync(licenses!, "utf8").matchAll(/^(?:@[\w.-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S* \(.+\)$/gm),
  ]
  const missing = licensed
    .map(([title]) => title.split(" "))
    .filter(([name, version]) => !text.includes(`"pkg:npm/${name!.replace("@", "%40")}@${version}"`))
  if (licensed.length === 0 || missing.length > 0)
    throw new Error(`${manifest.name}: ${sbom} lacks ${JSON.stringify(missing)}`)
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
