/**
 * The server and the definitions run on any runtime: none of their direct or indirect imports is a module of Node.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const SPECIFIER =
  /(?:^|[\s;}])(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|(?:import|getBuiltinModule)\(\s*["']([^"']+)["']\s*\)/g

/** Removes comments, which may contain imports in examples. */
const withoutComments = (source: string): string => source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")

/** Whether an import imports only types, which are removed when the code runs. */
const isTypeOnly = (statement: string): boolean => /^[\s;}]*(import|export)\s+type\s/.test(statement)

/** All modules that a module imports at run time, by their URLs, each with its importer. */
const importsOf = (entry: string): ReadonlyMap<string, string> => {
  const seen = new Map<string, string>([[entry, "here"]])
  const queue = [entry]
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    if (!url.startsWith("file:")) continue
    const source = withoutComments(readFileSync(fileURLToPath(url), "utf8"))
    for (const match of source.matchAll(SPECIFIER)) {
      const specifier = match[1] ?? match[2] ?? ""
      if (isTypeOnly(match[0])) continue
      const target = specifier.startsWith(".")
        ? new URL(specifier, url).href
        : specifier.startsWith("node:")
          ? specifier
          : import.meta.resolve(specifier, url)
      if (seen.has(target)) continue
      seen.set(target, url)
      queue.push(target)
    }
  }
  return seen
}

const nodeModulesOf = (entry: string): ReadonlyArray<string> => {
  const imports = importsOf(new URL(entry, import.meta.url).href)
  assert.isAbove(imports.size, 100)
  return [...imports].filter(([url]) => url.startsWith("node:")).map(([url, by]) => `${url} by ${by}`)
}

describe("imports", () => {
  it("of the server include nothing of Node", () => {
    assert.deepStrictEqual(nodeModulesOf("../src/index.ts"), [])
  })

  it("of the definitions include nothing of Node or of the server", () => {
    assert.deepStrictEqual(nodeModulesOf("../src/api/index.ts"), [])
    const own = [...importsOf(new URL("../src/api/index.ts", import.meta.url).href).keys()]
    assert.isEmpty(own.filter((url) => /\/packages\/http\/src\/(server|node)\//.test(url)))
  })

  it("of the Node entry point include Node, which shows that this test works", () => {
    assert.isNotEmpty(nodeModulesOf("../src/node/index.ts"))
  })
})
