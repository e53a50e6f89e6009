/**
 * Writes, for each publishable package, the directory that is packed and published: `packages/<name>/.package`.
 *
 * Inside the workspace `exports` points to `src/*.ts`, so that everything runs without a build. npm, unlike pnpm,
 * does not apply `publishConfig.exports` when it packs; this script does. `publishConfig.directory` tells
 * `changeset publish` to publish from there.
 */
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rewriteImports } from "./direct-imports.ts"
import { type Manifest, type Package, publishable, root } from "./workspace.ts"

/** Settings of publishing itself; every other field of `publishConfig` replaces the manifest's. */
const PUBLISH_SETTINGS = new Set(["access", "directory", "provenance", "registry", "tag"])
const WORKSPACE_ONLY = new Set(["devDependencies", "publishConfig", "scripts"])

export const publishedManifest = (manifest: Manifest): Record<string, unknown> => {
  const publishConfig = Object.entries(manifest.publishConfig ?? {})
  const settings = publishConfig.filter(([field]) => PUBLISH_SETTINGS.has(field) && field !== "directory")
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

const stage = ({ directory, manifest, staged }: Package): void => {
  if (!entryPoints(manifest).every((file) => existsSync(join(directory, file)))) {
    throw new Error(`${manifest.name} is not built: run "npm run build".`)
  }
  rmSync(staged, { recursive: true, force: true })
  for (const file of manifest.files ?? []) {
    const source = file === "LICENSE" ? join(root, "LICENSE") : join(directory, file)
    cpSync(source, join(staged, file), {
      recursive: true,
      filter: (path) => !path.endsWith(".tsbuildinfo"),
    })
  }
  rewriteImports(join(staged, "dist"))
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
}

export const stageAll = (): void => publishable().forEach(stage)

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) stageAll()
