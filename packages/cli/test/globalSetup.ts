/**
 * Bundles the `billwright` command for the tests that start it, some hundred times in a run, and the programs of fault
 * tests. Loading the bundle takes a third of the time of loading the thousand files that it is made of. Nothing else
 * differs: it is made of the same source.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import { BUNDLE, PROGRAMS } from "./Command.ts"

const root = join(import.meta.dirname, "../../..")
const source = join(import.meta.dirname, "../src")

/** Modules look for files beside them, so each keeps the address of its own source. */
const ownAddresses: Plugin = {
  name: "own-addresses",
  transform: {
    filter: { code: "import.meta.url" },
    handler: (code, id) => code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
  },
}

/** The global set-up of test projects. Projects of one run share a bundle. */
export const setup = async (): Promise<(() => Promise<void>) | undefined> => {
  if (process.env[BUNDLE] !== undefined) return undefined
  const cache = join(root, "node_modules/.cache")
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, "billwright-command-"))
  // Without it, Node parses a module to find out that it is one.
  await writeFile(join(folder, "package.json"), `{ "type": "module" }\n`)
  const bundle = await rolldown({
    input: {
      bin: join(source, "bin.ts"),
      Main: join(source, "Main.ts"),
      InProcess: join(import.meta.dirname, "InProcess.ts"),
      ...Object.fromEntries(
        Object.entries(PROGRAMS).map(([name, path]) => [name, join(import.meta.dirname, path)]),
      ),
    },
    platform: "node",
    logLevel: "silent",
    plugins: [ownAddresses],
  })
  await bundle.write({ dir: folder, format: "esm" })
  await bundle.close()
  process.env[BUNDLE] = join(folder, "bin.js")
  return async () => {
    delete process.env[BUNDLE]
    await rm(folder, { recursive: true, force: true })
  }
}
