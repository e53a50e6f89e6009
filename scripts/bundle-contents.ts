/**
 * What a bundle contains, written next to it: the licences of the packages in it, and its bill of materials.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { sbomOf } from "./sbom.ts"
import { type Manifest, readManifest, root } from "./workspace.ts"

/** The folder of a module's package. */
export const packageOf = (module: string): string => {
  let folder = dirname(module)
  while (!existsSync(join(folder, "package.json")) || readManifest(folder).name === undefined)
    folder = dirname(folder)
  return folder
}

/** Licences that don't ask to be included. Packages with others must have a file to include. */
const WITHOUT_NOTICE = ["Unlicense", "0BSD", "CC0-1.0"]

/** The licences of the packages in the bundle, which have to be included. */
const licensesOf = (folders: Iterable<string>): string =>
  Array.from(folders, (folder) => {
    const { license, name, version } = readManifest(folder)
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const title = `${name} ${version} (${String(license)})\n`
    if (file !== undefined) return `${title}\n${readFileSync(join(folder, file), "utf8").trim()}\n`
    if (!WITHOUT_NOTICE.includes(String(license)))
      throw new Error(`${name} is bundled, but has no licence file`)
    return title
  })
    .sort()
    .join(`\n${"-".repeat(80)}\n\n`)

const LICENSES = "LICENSES-BUNDLED.txt"
export const SBOM = "sbom.cdx.json"

/** The files that say what is in a bundle. */
export const BUNDLE_FILES: ReadonlyArray<string> = [LICENSES, SBOM]

/**
 * Writes the licences of the packages in a bundle next to it, and its bill of materials. Returns the folders of all packages
 * in it.
 */
export const writeContents = (
  manifest: Manifest,
  directory: string,
  chunks: ReadonlyArray<{ readonly moduleIds: ReadonlyArray<string> }>,
): ReadonlySet<string> => {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.startsWith("/"))
  const folders = new Set(modules.map(packageOf))
  const foreign = [...folders].filter((folder) => folder.startsWith(join(root, "node_modules")))
  writeFileSync(join(directory, LICENSES), licensesOf(foreign))
  writeFileSync(join(directory, SBOM), sbomOf(manifest, folders))
  return folders
}
