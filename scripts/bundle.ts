/**
 * What is published of a package whose `publishConfig` has a `bundle`: its entry points with all that they import in
 * them, but for what `bundle.external` names.
 *
 * `billwright` is one. Most hosts of it don't use Effect: without this their cold start reads four megabytes of
 * modules, most of which they never call, and takes three times as long.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { rolldown } from "rolldown"
import { type Manifest, type Package, readManifest, root } from "./workspace.ts"

interface Bundle {
  /** Packages that stay packages, and become the only dependencies. */
  readonly external: ReadonlyArray<string>
}

/** How a package is bundled, if it is. */
export const bundleOf = ({ publishConfig }: Manifest): Bundle | undefined =>
  publishConfig?.["bundle"] as Bundle | undefined

/** `dist/client/index.js` by `src/client/index.ts`, for each entry point. */
const entriesOf = ({ directory, manifest }: Package): Record<string, string> =>
  Object.fromEntries(
    Object.values(manifest.exports ?? {})
      .filter((source): source is string => typeof source === "string" && source.startsWith("./src/"))
      .map((source) => [source.replace(/^\.\/src\/(.*)\.ts$/, "$1"), join(directory, source)]),
  )

/** The folder of the package that a module is of. */
const packageOf = (module: string): string => {
  let folder = dirname(module)
  while (!existsSync(join(folder, "package.json")) || readManifest(folder).name === undefined)
    folder = dirname(folder)
  return folder
}

/** What the packages whose code is in the bundle ask to be told with it. */
const licensesOf = (folders: Iterable<string>): string =>
  Array.from(folders, (folder) => {
    const { license, name, version } = readManifest(folder)
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new Error(`${name} is bundled and has no licence file`)
    return `${name} ${version} (${String(license)})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`
  })
    .sort()
    .join(`\n${"-".repeat(80)}\n\n`)

/** The versions of what stayed outside, as the packages say that are in the bundle. */
const dependenciesOf = (
  external: ReadonlyArray<string>,
  folders: Iterable<string>,
): Record<string, string> => {
  const asked = Object.assign(
    {},
    ...Array.from(folders, (folder) => readManifest(folder)["dependencies"] ?? {}),
  ) as Record<string, string>
  return Object.fromEntries(
    external.map((name) => {
      const version = asked[name]
      if (version === undefined) throw new Error(`nothing that is bundled depends on ${name}`)
      return [name, version]
    }),
  )
}

/**
 * Writes the bundle and the licences of what is in it beside the staged declarations, in the place of the modules of
 * `dist`. Gives the dependencies that are left.
 */
export const bundle = async (target: Package, { external }: Bundle): Promise<Record<string, string>> => {
  const isExternal = (id: string): boolean =>
    id.startsWith("node:") || external.some((name) => id === name || id.startsWith(`${name}/`))
  const built = await rolldown({ input: entriesOf(target), platform: "node", external: isExternal })
  const { output } = await built.write({
    dir: join(target.staged, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  })
  await built.close()
  const chunks = output.filter((each) => each.type === "chunk")
  const left = chunks.flatMap(({ dynamicImports, imports }) => [...imports, ...dynamicImports])
  const unknown = left.filter((id) => !isExternal(id) && !chunks.some(({ fileName }) => fileName === id))
  if (unknown.length > 0) throw new Error(`${target.manifest.name} is left with ${unknown.join(", ")}`)
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.startsWith("/"))
  const folders = new Set(modules.map(packageOf))
  const foreign = [...folders].filter((folder) => folder.startsWith(join(root, "node_modules")))
  writeFileSync(join(target.staged, "LICENSES-BUNDLED.txt"), licensesOf(foreign))
  return dependenciesOf(external, folders)
}

/** Whether a compiled file is not of the bundle: declarations stay. */
export const isDeclaration = (path: string): boolean => /\.d\.ts(\.map)?$/.test(path)
