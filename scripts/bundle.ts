/**
 * Bundles a package whose `publishConfig` has a `bundle`: its entry points contain everything that they import,
 * except the packages in `bundle.external`.
 *
 * `billwright` is such a package. Most of its hosts don't use Effect. Without the bundle their cold start reads four
 * megabytes of modules, most of which they never call, and takes three times as long.
 *
 * Of a package whose `publishConfig` has a `command`, only the program is bundled, for the same reason. Its other entry
 * points stay as they are.
 */
import { writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { type OutputChunk, type Plugin, rolldown, type RolldownOutput } from "rolldown"
import { packageOf, writeContents } from "./bundle-contents.ts"
import { type Manifest, type Package, readManifest, root } from "./workspace.ts"

interface Bundle {
  /** The packages that are not bundled. They become the only dependencies. */
  readonly external: ReadonlyArray<string>
  /** Entry points that import further packages from the host, instead of the copies in the bundle. */
  readonly onPeers?: {
    readonly entries: ReadonlyArray<string>
    /** These packages. They become optional peers. */
    readonly peers: ReadonlyArray<string>
    /**
     * Modules that these entry points share with the others, with all that they import from their folder: classes that
     * `instanceof` must recognize, and registries. They import no package.
     */
    readonly shared: ReadonlyArray<string>
  }
}

interface BundledCommand {
  /** The module that is bundled: that of the package's program. */
  readonly source: string
  /** The packages that are not bundled, because they look for files beside their modules. */
  readonly external: ReadonlyArray<string>
}

/** The `command` of a package, if it has one. */
export const commandOf = ({ publishConfig }: Manifest): BundledCommand | undefined =>
  publishConfig?.["command"] as BundledCommand | undefined

/** The `bundle` of a package, if it has one. */
export const bundleOf = ({ publishConfig }: Manifest): Bundle | undefined =>
  publishConfig?.["bundle"] as Bundle | undefined

/**
 * The optional peers of a bundled package. A package of ours must have the same version. Any version of another
 * package is accepted here, because hosts may have it for other reasons; our packages require the right one.
 */
export const peersOf = (manifest: Manifest): Record<string, unknown> => {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest as Record<string, object>
  const names = bundleOf(manifest)?.onPeers?.peers ?? []
  const own = manifest["dependencies"] as Record<string, string>
  const ranges = names.map((name) => [name, name.startsWith("@billwright/") ? own[name] : "*"])
  return {
    peerDependencies: { ...peerDependencies, ...Object.fromEntries(ranges) },
    peerDependenciesMeta: {
      ...peerDependenciesMeta,
      ...Object.fromEntries(names.map((name) => [name, { optional: true }])),
    },
  }
}

/** For entry points, the output and the source: `dist/client/index.js` and `src/client/index.ts`. */
const entriesOf = (
  { directory, manifest }: Package,
  isEntry: (name: string) => boolean,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(manifest.exports ?? {})
      .filter((entry): entry is [string, string] => typeof entry[1] === "string")
      .filter(([name, source]) => source.startsWith("./src/") && isEntry(name))
      .map(([, source]) => [source.replace(/^\.\/src\/(.*)\.ts$/, "$1"), join(directory, source)]),
  )

const SHARED = "shared"

/** An entry point with all exports of these modules. */
const sharing = (modules: ReadonlyArray<string>): Plugin => ({
  name: "sharing",
  resolveId: (id) => (id === SHARED ? SHARED : null),
  load: (id) =>
    id === SHARED ? modules.map((module) => `export * from ${JSON.stringify(module)}\n`).join("") : null,
})

/** Imports the shared modules from that entry point. */
const shared = (modules: ReadonlyArray<string>): Plugin => {
  const folders = modules.filter((module) => basename(module) === "index.ts").map((module) => dirname(module))
  return {
    name: "shared",
    resolveId: (id, importer) => {
      if (importer === undefined || !id.startsWith(".")) return null
      const path = join(dirname(importer), id)
      const isShared = modules.includes(path) || folders.includes(dirname(path))
      return isShared ? { id: SHARED, external: true } : null
    },
    renderChunk: (code, { fileName }) => {
      const way = relative(dirname(fileName), `${SHARED}.js`)
      return code.replaceAll(`"${SHARED}"`, JSON.stringify(way.startsWith(".") ? way : `./${way}`))
    },
  }
}

/** The versions of the external packages, as the bundled packages require them. */
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

const isOf =
  (packages: ReadonlyArray<string>) =>
  (id: string): boolean =>
    id.startsWith("node:") || packages.some((name) => id === name || id.startsWith(`${name}/`))

const write = async (
  { manifest, staged }: Package,
  input: Record<string, string>,
  external: (id: string) => boolean,
  plugin: Plugin,
): Promise<ReadonlyArray<OutputChunk>> => {
  const built = await rolldown({ input, platform: "node", external, plugins: [plugin] })
  const { output } = await built.write({
    dir: join(staged, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Every start of a host reads the whole file, and half of the lines were documentation. The declarations have it.
    comments: { jsdoc: false },
  })
  await built.close()
  return chunksOf(manifest, output, external)
}

/** The modules of a bundle. Fails when they import a package that is neither bundled nor external. */
const chunksOf = (
  { name }: Manifest,
  output: RolldownOutput["output"],
  external: (id: string) => boolean,
): ReadonlyArray<OutputChunk> => {
  const chunks = output.filter((each) => each.type === "chunk")
  const left = chunks.flatMap(({ dynamicImports, imports }) => [...imports, ...dynamicImports])
  const unknown = left.filter(
    (id) => id !== SHARED && !external(id) && !chunks.some(({ fileName }) => fileName === id),
  )
  if (unknown.length > 0) throw new Error(`${name} still imports ${unknown.join(", ")}`)
  return chunks
}

/**
 * Writes the bundle next to the staged declarations in place of the modules of `dist`, with the licences of its
 * packages. Returns the remaining dependencies.
 */
export const bundle = async (
  target: Package,
  { external, onPeers }: Bundle,
): Promise<Record<string, string>> => {
  const { entries = [], peers = [], shared: modules = [] } = onPeers ?? {}
  const common = modules.map((module) => join(target.directory, module))
  const whole = entriesOf(target, (name) => !entries.includes(name))
  const chunks = [
    ...(await write(
      target,
      onPeers === undefined ? whole : { ...whole, [SHARED]: SHARED },
      isOf(external),
      sharing(common),
    )),
    ...(await write(
      target,
      entriesOf(target, (name) => entries.includes(name)),
      isOf([...external, ...peers]),
      shared(common),
    )),
  ]
  return dependenciesOf(external, writeContents(target.manifest, target.staged, chunks))
}

/** A module asks for the files beside it by its address. In the bundle of a command it has that of its own package. */
const ownAddresses = (target: Package): Plugin => ({
  name: "own-addresses",
  transform: {
    filter: { code: "import.meta.url" },
    handler: (code, id) => {
      if (!id.startsWith(join(root, "packages")) || id.startsWith(join(target.directory, "src")))
        return undefined
      const { name } = readManifest(packageOf(id))
      return code.replaceAll("import.meta.url", `import.meta.resolve(${JSON.stringify(name)})`)
    },
  },
})

const UNDICI_CLIENT = "\0undici-client"
const UNDICI_HTTP2 = "\0undici-http2"

/**
 * Loads only the class of undici that is used. Its entry point also loads `fetch`, web sockets, caches and mocks, and the
 * class loads HTTP/2, which we never ask for. The bundle contains the version that was tested, so it may rely on its files.
 */
const undiciClient: Plugin = {
  name: "undici-client",
  resolveId: (id, importer) => {
    if (id === "undici") return UNDICI_CLIENT
    return id === "./client-h2.js" && /undici\/lib\/dispatcher/.test(importer ?? "") ? UNDICI_HTTP2 : null
  },
  load: (id) => {
    if (id === UNDICI_CLIENT) return `export { default as Client } from "undici/lib/dispatcher/client.js"\n`
    return id === UNDICI_HTTP2 ? `module.exports = () => { throw new Error("HTTP/2 is not used") }\n` : null
  },
}

/**
 * The text of a file takes one byte of memory for each character if all are ASCII, and otherwise two. So other
 * characters become escapes. That would change templates that are read raw, of which there are none.
 */
const inAscii = (code: string): string => {
  if (/\braw`[^`]*[^\0-\x7f]/.test(code)) throw new Error("a raw template has characters beyond ASCII")
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/** Writes the program of a package in place of its module, with the licences of what it contains. */
export const bundleCommand = async (target: Package, { external, source }: BundledCommand): Promise<void> => {
  const { directory, manifest, staged } = target
  const isExternal = isOf(external)
  const built = await rolldown({
    input: { [basename(source, ".ts")]: join(directory, source) },
    platform: "node",
    external: isExternal,
    plugins: [ownAddresses(target), undiciClient],
    // The program imports a module only for what it does.
    treeshake: { moduleSideEffects: (id) => (id.startsWith(join(directory, "src")) ? true : undefined) },
  })
  const { output } = await built.write({
    dir: join(staged, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "command/[name]-[hash].js",
    // A process keeps the text in memory.
    comments: { jsdoc: false, legal: false, annotation: false },
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  })
  await built.close()
  const chunks = chunksOf(manifest, output, isExternal)
  for (const { code, fileName } of chunks) writeFileSync(join(staged, "dist", fileName), inAscii(code))
  writeContents(target.manifest, target.staged, chunks)
}

/** Whether a compiled file is replaced by the bundle. Declarations stay. */
export const isDeclaration = (path: string): boolean => /\.d\.ts(\.map)?$/.test(path)
