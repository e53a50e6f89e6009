/**
 * Writes the directory that is packed and published for each public package: `packages/<name>/.package`.
 *
 * Inside the workspace `exports` points to `src/*.ts`, so that everything runs without a build. pnpm applies
 * `publishConfig.exports` when it packs; npm doesn't, so this script does. `publishConfig.directory` makes `changeset
 * publish` use that directory.
 */
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { BUNDLE_FILES, writeContents } from "./bundle-contents.ts"
import { bundle, bundleCommand, bundleOf, commandOf, isDeclaration, peersOf } from "./bundle.ts"
import { bringDeclarations } from "./bundled-declarations.ts"
import { rewriteImports } from "./direct-imports.ts"
import { type Manifest, type Package, publishable, root } from "./workspace.ts"

/** Settings of publishing itself. Every other field of `publishConfig` replaces the manifest's. */
const PUBLISH_SETTINGS = new Set([
  "access",
  "bundle",
  "command",
  "directory",
  "provenance",
  "registry",
  "tag",
])
/** Settings that only this script reads. */
const OWN_SETTINGS = new Set(["bundle", "command", "directory"])
const WORKSPACE_ONLY = new Set(["devDependencies", "publishConfig", "scripts"])

export const publishedManifest = (manifest: Manifest): Record<string, unknown> => {
  const publishConfig = Object.entries(manifest.publishConfig ?? {})
  const settings = publishConfig.filter(([field]) => PUBLISH_SETTINGS.has(field) && !OWN_SETTINGS.has(field))
  const replacements = Object.fromEntries(publishConfig.filter(([field]) => !PUBLISH_SETTINGS.has(field)))
  return {
    ...Object.fromEntries(Object.entries(manifest).filter(([field]) => !WORKSPACE_ONLY.has(field))),
    ...replacements,
    publishConfig: Object.fromEntries(settings),
  }
}

/** The files that the published `exports` point to. */
const entryPoints = ({ publishConfig }: Manifest): ReadonlyArray<string> =>
  Object.values(
    (publishConfig?.["exports"] ?? {}) as Record<string, string | Record<string, string>>,
  ).flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))

/** The modules of an application that another bundler has put into the package. */
const BUNDLED_MODULES = "dist/bundled-modules.json"

const stage = async (each: Package): Promise<void> => {
  const { directory, manifest, staged } = each
  if (!entryPoints(manifest).every((file) => existsSync(join(directory, file)))) {
    throw new Error(`${manifest.name} is not built: run "npm run build".`)
  }
  const bundled = bundleOf(manifest)
  const isPublished = (path: string): boolean => {
    if (path.endsWith(".tsbuildinfo") || path.endsWith(BUNDLED_MODULES)) return false
    const isCompiled = path.startsWith(join(directory, "dist")) && statSync(path).isFile()
    return bundled === undefined || !isCompiled || isDeclaration(path)
  }
  rmSync(staged, { recursive: true, force: true })
  for (const file of manifest.files ?? []) {
    const source = file === "LICENSE" ? join(root, "LICENSE") : join(directory, file)
    cpSync(source, join(staged, file), { recursive: true, filter: isPublished })
  }
  let published = publishedManifest(manifest)
  if (bundled !== undefined) {
    const dependencies = await bundle(each, bundled)
    const entries = entryPoints(manifest).filter(isDeclaration)
    bringDeclarations(
      each,
      join(staged, "dist"),
      entries.map((file) => join(staged, file)),
      [...bundled.external, ...(bundled.onPeers?.peers ?? [])],
    )
    const files = [...(manifest.files ?? []), ...BUNDLE_FILES]
    published = { ...published, dependencies, ...peersOf(manifest), files }
  }
  rewriteImports(join(staged, "dist"))
  const command = commandOf(manifest)
  if (command !== undefined) {
    await bundleCommand(each, command)
    published = { ...published, files: [...(manifest.files ?? []), ...BUNDLE_FILES] }
  }
  const modules = join(directory, BUNDLED_MODULES)
  if (existsSync(modules)) {
    writeContents(manifest, staged, [
      { moduleIds: JSON.parse(readFileSync(modules, "utf8")) as Array<string> },
    ])
    published = { ...published, files: [...(manifest.files ?? []), ...BUNDLE_FILES] }
  }
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(published, null, 2)}\n`)
}

export const stageAll = async (): Promise<void> => {
  await Promise.all(publishable().map(stage))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await stageAll()
