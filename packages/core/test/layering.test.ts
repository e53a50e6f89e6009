/**
 * core runs wherever JavaScript does: it imports nothing but its own modules, hash functions, the engine, and of Effect what
 * is tagged stable, so that a minor release of Effect can't break it.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const source = join(import.meta.dirname, "../src")
const effect = join(dirname(fileURLToPath(import.meta.resolve("effect/package.json"))), "src")
const files = globSync("**/*.ts", { cwd: source }).toSorted()

/** What else core may import: hash functions without dependencies of their own. */
const HASHES = new Set(["@noble/hashes/hmac.js", "@noble/hashes/sha2.js", "@noble/hashes/utils.js"])

const STATEMENT = /^(?:import|export)\s+(?:type\s+)?(?:([^"';]*?)\s+from\s+)?["']([^"']+)["']/gm
const DYNAMIC = /\b(?:import|require)\(\s*["'`]?([^"'`)]*)/g

/** The imports and re-exports of a module, with the names that it takes. */
const importsOf = (code: string) => [
  ...[...code.matchAll(STATEMENT)].map(([, clause = "", from = ""]) => ({
    from,
    names: clause
      .replaceAll(/[{}]/g, "")
      .split(",")
      .map((item) =>
        item
          .trim()
          .replace(/^type\s+/, "")
          .replace(/\s+as\s+\w+$/, ""),
      )
      .filter((name) => name !== ""),
  })),
  ...[...code.matchAll(DYNAMIC)].map(([, from = ""]) => ({ from, names: [] })),
]

const withoutComments = (code: string) =>
  code.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "")

const EXPORT =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export (?:\* as (\w+)|(?:declare )?(?:abstract )?(?:const|function\*?|class|interface|type|namespace) (\w+))/g

const known = new Map<string, ReadonlyMap<string, string>>()
/** The exports of a module of Effect, with the stability that each is tagged with. */
const stabilities = (module: string): ReadonlyMap<string, string> => {
  const exports =
    known.get(module) ??
    new Map(
      [...readFileSync(join(effect, `${module}.ts`), "utf8").matchAll(EXPORT)].map(
        ([, comment = "", namespace, name = ""]) => [
          namespace ?? name,
          /@stability (\w+)/.exec(comment)?.[1] ?? "untagged",
        ],
      ),
    )
  known.set(module, exports)
  return exports
}

/** Pure and without dependencies. */
const ENGINE = new Set(["@billwright/engine", "@billwright/engine/documents", "@billwright/engine/einvoices"])

/** What a module imports that core must not. */
const forbidden = (file: string, code: string): ReadonlyArray<string> =>
  importsOf(code).flatMap(({ from, names }) => {
    if (from.startsWith(".")) return files.includes(join(dirname(file), from)) ? [] : [from]
    if (from !== "effect") return HASHES.has(from) || ENGINE.has(from) ? [] : [from]
    return names.flatMap((module) => {
      const uses = [...code.matchAll(new RegExp(`(?<![\\w.])${module}\\.(\\w+)`, "g"))].map(
        ([, member = ""]) => member,
      )
      const members = stabilities(module)
      return [
        ...(modules.get(module) === "stable" ? [] : [`effect ${module}`]),
        ...uses
          .filter((member) => members.has(member) && members.get(member) !== "stable")
          .map((member) => `${module}.${member}`),
      ]
    })
  })

const modules = stabilities("index")

describe("core", () => {
  it.each(files)("%s imports what it may", (file) => {
    assert.deepStrictEqual(forbidden(file, withoutComments(readFileSync(join(source, file), "utf8"))), [])
  })

  it("would be caught importing anything else", () => {
    const code = [
      `import { readFile } from "node:fs"`,
      `import type { Server } from "node:http"`,
      `import { Effect, Graph, type Layer, Schema as S } from "effect"`,
      `import * as HttpApi from "effect/http-api"`,
      `import {\n  a,\n  type b,\n} from "../../../memory/src/index.ts"`,
      `import "side-effect"`,
      `export * from "pg"`,
      `const late = await import("node:net")`,
      `export { Id } from "./shared/Id.ts"`,
    ].join("\n")
    assert.deepStrictEqual(forbidden("Billing.ts", code), [
      "node:fs",
      "node:http",
      "effect Graph",
      "effect/http-api",
      "../../../memory/src/index.ts",
      "side-effect",
      "pg",
      "node:net",
    ])
    const [unstable] = [...stabilities("Effect")].find(([, stability]) => stability === "unstable") ?? []
    assert.deepStrictEqual(forbidden("Billing.ts", `import { Effect } from "effect"\nEffect.${unstable}()`), [
      `Effect.${unstable}`,
    ])
  })
})
