/**
 * Runs what users would run, outside of the workspace and with packed packages only:
 *
 * - an app in plain JavaScript and one in TypeScript (`consumer/`), in which `npm install` installed the tarballs, on
 *   this Node and on the oldest supported one. The compiler checks the second under `nodenext` and `bundler`;
 * - an app in TypeScript on a store of `billwright/adapter`, where `npm install` added the packages that it needs;
 * - every example of `examples/` with its tests.
 *
 * Needs built packages: `npm run check` builds them. `npm run examples:packed -- fastify` runs only the examples
 * whose names contain that text.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { stageAll } from "./stage.ts"
import { link, pack, run, type Tarball, unpack } from "./Tarballs.ts"
import { type Manifest, publishable, readManifest, root } from "./workspace.ts"

/** The lowest version in `engines` of every package. */
const OLDEST_NODE = "22.19.0"

const isOurs = (name: string): boolean => name === "billwright" || name.startsWith("@billwright/")

/** The dependencies of packages that are not of this workspace. */
const foreignOf = (manifests: ReadonlyArray<Manifest>, ...fields: ReadonlyArray<string>): Set<string> =>
  new Set(
    manifests
      .flatMap((manifest) => fields.flatMap((field) => Object.keys((manifest[field] ?? {}) as object)))
      .filter((name) => !isOurs(name)),
  )

const timed = async (title: string, work: Promise<unknown>): Promise<void> => {
  const started = performance.now()
  await work
  console.log(`${title}: ok, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

/** The path of the oldest Node, from npm's registry. */
const oldestNode = async (): Promise<string> => {
  const args = ["--yes", `--package=node@${OLDEST_NODE}`, "--call", "node -p process.execPath"]
  const path = (await run("npm", ["exec", ...args], tmpdir())).trim()
  const version = (await run(path, ["--version"])).trim()
  if (version !== `v${OLDEST_NODE}`) throw new Error(`node@${OLDEST_NODE} says that it is ${version}`)
  return path
}

const checkTypes = (
  folder: string,
  moduleResolution: "nodenext" | "bundler",
  file: string,
): Promise<string> => {
  const compilerOptions = {
    target: "es2024",
    lib: ["ES2024", "ESNext.Disposable", "DOM"],
    module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution,
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  }
  const project = join(folder, `tsconfig.${moduleResolution}.json`)
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [file] }))
  return run("tsc", ["--project", project], folder)
}

/** A package as it is published, and those of our packages that it depends on. */
const ourDependencies = (name: string, found = new Set<string>()): Set<string> => {
  const each = publishable().find(({ manifest }) => manifest.name === name)
  if (each === undefined || found.has(name)) return found
  found.add(name)
  const { dependencies = {} } = readManifest(each.staged) as { readonly dependencies?: object }
  for (const dependency of Object.keys(dependencies)) ourDependencies(dependency, found)
  return found
}

/**
 * An app: an empty folder with `npm install`, with the dependencies of `billwright` and nothing else. Then the same
 * folder with the packages that the adapter of a storage needs.
 */
const runConsumer = async (folder: string, tarballs: ReadonlyArray<Tarball>): Promise<void> => {
  cpSync(join(root, "scripts", "consumer"), folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }))
  const filesOf = (names: Set<string>) =>
    tarballs.filter(({ manifest }) => names.has(manifest.name)).map(({ file }) => file)
  const install = (...packages: ReadonlyArray<string>) =>
    run(
      "npm",
      ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...packages],
      folder,
    )
  const [oldest] = await Promise.all([oldestNode(), install(...filesOf(ourDependencies("billwright")))])
  const works = async (program: string) => {
    for (const node of [process.execPath, oldest]) {
      const output = await run(node, ["--disable-warning=ExperimentalWarning", program], folder)
      if (output !== "works\n") throw new Error(`${program} on ${node} said: ${output}`)
    }
  }
  const typed = async (program: string) => {
    await checkTypes(folder, "nodenext", program)
    await checkTypes(folder, "bundler", program)
  }
  await works("plain.js")
  await works("typed.ts")
  link(["@types/node", "undici-types"], folder)
  await typed("typed.ts")
  const { version } = readManifest(join(root, "node_modules", "effect"))
  await install(`effect@${version}`, ...filesOf(ourDependencies("@billwright/memory")))
  await works("adapter.ts")
  link(["@types/node", "undici-types"], folder)
  await typed("adapter.ts")
}

/** The examples, unchanged and side by side, with the unpacked packages and their declared dependencies. */
const runExamples = async (
  host: string,
  tarballs: ReadonlyArray<Tarball>,
  filters: ReadonlyArray<string>,
): Promise<void> => {
  const source = join(root, "examples")
  const names = readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "dist")
    .map(({ name }) => name)
  for (const name of names) {
    cpSync(join(source, name), join(host, name), {
      recursive: true,
      filter: (path) => !["dist", "node_modules"].includes(basename(path)),
    })
  }
  await Promise.all(tarballs.map((tarball) => unpack(tarball, host)))
  const packages = tarballs.map(({ manifest }) => readManifest(join(host, "node_modules", manifest.name)))
  const examples = names.map((name) => readManifest(join(host, name)))
  link(
    foreignOf(packages, "dependencies", "peerDependencies").union(
      foreignOf(examples, "dependencies", "devDependencies"),
    ),
    host,
  )
  const test = {
    include: ["*/test/**/*.test.ts"],
    exclude: ["*/test/e2e/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  }
  writeFileSync(join(host, "vitest.config.mjs"), `export default { test: ${JSON.stringify(test)} }\n`)
  console.log(await run("vitest", ["run", "--reporter=dot", ...filters], host))
}

const directory = mkdtempSync(join(tmpdir(), "billwright-packed-"))
try {
  const filters = process.argv.slice(2)
  await stageAll()
  const [tars, app, host] = ["tarballs", "app", "examples"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [tars, app, host]) mkdirSync(folder)
  const tarballs = await Promise.all(publishable().map((each) => pack(each, tars)))
  if (filters.length === 0) await timed("an app that installs the packages", runConsumer(app, tarballs))
  await timed("the examples", runExamples(host, tarballs, filters))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
