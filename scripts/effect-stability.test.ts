/**
 * core uses only what Effect tags `@stability stable`, so that a minor release of Effect cannot break it.
 * The linter keeps core to the modules of `effect` itself; this looks at each member it uses.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "./workspace.ts"

const effect = join(root, "node_modules/effect/src")

const DOCUMENTED_EXPORT =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export (?:declare )?(?:abstract )?(?:const|let|function\*?|class|interface|type|namespace) (\w+)|export \* as (\w+)|\w+ as (\w+))/g

/** The exports of a module of Effect that carry another tag than `stable`. */
const unstableExports = (module: string): ReadonlyMap<string, string> =>
  new Map(
    [...readFileSync(join(effect, `${module}.ts`), "utf8").matchAll(DOCUMENTED_EXPORT)].flatMap((match) => {
      const stability = /@stability (\w+)/.exec(match[1] ?? "")?.[1] ?? "stable"
      const name = match[2] ?? match[3] ?? match[4]
      return name === undefined || stability === "stable" ? [] : [[name, stability] as const]
    }),
  )

const withoutComments = (source: string) => source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")

/** What a source takes from Effect: `[module, member]`, and `["index", module]` for the module itself. */
const effectUses = (source: string): ReadonlyArray<readonly [module: string, member: string]> => {
  const code = withoutComments(source)
  const named = [...code.matchAll(/\{([^}]*)\} from "effect(?:\/(\w+))?"/g)].flatMap(
    ([, list = "", module]) =>
      list.split(",").flatMap((item) => {
        const [name, alias = name] = item
          .trim()
          .replace(/^type /, "")
          .split(" as ")
        return name === undefined || name === "" || alias === undefined ? [] : [{ name, alias, module }]
      }),
  )
  const whole = [...code.matchAll(/\* as (\w+) from "effect\/(\w+)"/g)]
  const namespaces = [
    ...named.filter(({ module }) => module === undefined).map(({ alias, name }) => ({ alias, name })),
    ...whole.map(([, alias = "", name = ""]) => ({ alias, name })),
  ]
  return [
    ...namespaces.map(({ name }) => ["index", name] as const),
    ...named.flatMap(({ module, name }) => (module === undefined ? [] : [[module, name] as const])),
    ...namespaces.flatMap(({ alias, name }) =>
      [...code.matchAll(new RegExp(`(?<![\\w.])${alias}\\.(\\w+)`, "g"))].map(
        ([, member = ""]) => [name, member] as const,
      ),
    ),
  ]
}

const cache = new Map<string, ReadonlyMap<string, string>>()
const stabilityOf = (module: string, member: string): string => {
  const known = cache.get(module) ?? unstableExports(module)
  cache.set(module, known)
  return known.get(member) ?? "stable"
}

const unstableUses = (source: string): ReadonlyArray<string> => [
  ...new Set(
    effectUses(source)
      .filter(([module, member]) => stabilityOf(module, member) !== "stable")
      .map(([module, member]) => `${module}.${member} is ${stabilityOf(module, member)}`),
  ),
]

describe("the check of Effect's stability tags", () => {
  it("finds a module that is not stable", () =>
    assert.deepEqual(unstableUses(`import { Effect, Graph } from "effect"\nEffect.void`), [
      "index.Graph is unstable",
    ]))
  it("finds a member that is not stable in a module that is", () => {
    const member = [...unstableExports("Schema").keys()][0] ?? "none"
    const found = [`Schema.${member} is ${stabilityOf("Schema", member)}`]
    assert.deepEqual(unstableUses(`import { Schema as S } from "effect"\nS.String\nS.${member}`), found)
    assert.deepEqual(unstableUses(`import * as S from "effect/Schema"\nS.${member}`), found)
    assert.deepEqual(unstableUses(`import { ${member} } from "effect/Schema"`), found)
  })
})

describe("core uses only what is stable in Effect", () => {
  for (const file of globSync("packages/core/src/**/*.ts", { cwd: root }).toSorted()) {
    it(file, () => assert.deepEqual(unstableUses(readFileSync(join(root, file), "utf8")), []))
  }
})
