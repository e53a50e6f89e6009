/** The modules that each entry point loads. */
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { type RolldownOutput, rolldown } from "rolldown"
import { assert, describe, it } from "vitest"

const build = async (name: string): Promise<RolldownOutput["output"]> => {
  const input = fileURLToPath(import.meta.resolve(name))
  const bundle = await rolldown({
    input,
    platform: "neutral",
    external: (id) => !id.startsWith(".") && !id.startsWith("/"),
    treeshake: true,
  })
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true })
  await bundle.close()
  return output
}

describe("billwright/client", () => {
  it("imports nothing, and is small", async () => {
    const [{ code, dynamicImports, imports }] = await build("billwright/client")
    assert.deepStrictEqual({ dynamicImports, imports }, { dynamicImports: [], imports: [] })
    assert.notMatch(code, /\bprocess\b|\bBuffer\b|\brequire\b/)
    assert.isBelow(code.length, 23_000)
  })
})

describe("billwright/rating", () => {
  it("is the rating of the engine without Effect, Node or a store, and at most 12 KB compressed", async () => {
    const [{ code, dynamicImports, imports }] = await build("@billwright/engine/rating")
    assert.deepStrictEqual({ dynamicImports, imports }, { dynamicImports: [], imports: [] })
    assert.notMatch(code, /\bprocess\b|\bBuffer\b|\brequire\b/)
    assert.isBelow(gzipSync(code).length, 12 * 1024)
    const [entry] = await build("billwright/rating")
    assert.deepStrictEqual(entry.imports, ["@billwright/engine/rating"])
  })
})

describe("billwright/einvoices", () => {
  it("is that of the engine without Effect, Node or a store, and at most 12 KB compressed", async () => {
    const [{ code, dynamicImports, imports }] = await build("@billwright/engine/einvoices")
    assert.deepStrictEqual({ dynamicImports, imports }, { dynamicImports: [], imports: [] })
    assert.notMatch(code, /\bprocess\b|\bBuffer\b|\brequire\b/)
    assert.isBelow(gzipSync(code).length, 12 * 1024)
    const [entry] = await build("billwright/einvoices")
    assert.deepStrictEqual(entry.imports, ["@billwright/engine/einvoices"])
  })
})

describe("billwright/proof", () => {
  it("is the check of the engine without Effect, Node or a store, and at most 20 KB compressed", async () => {
    const [{ code, dynamicImports, imports }] = await build("@billwright/engine/proofs")
    assert.deepStrictEqual({ dynamicImports, imports }, { dynamicImports: [], imports: [] })
    assert.notMatch(code, /\bprocess\b|\bBuffer\b|\brequire\b/)
    assert.isBelow(gzipSync(code).length, 20 * 1024)
    const [entry] = await build("billwright/proof")
    assert.deepStrictEqual(entry.imports, ["@billwright/engine/proofs"])
  })
})

describe("billwright", () => {
  it("loads the REST API and the sender of webhooks only when they are used, and never Postgres", async () => {
    const [{ dynamicImports, imports }] = await build("billwright")
    assert.sameMembers(imports, [
      "@billwright/core",
      "@billwright/engine",
      "@billwright/node/version",
      "effect",
      "node:async_hooks",
      "node:stream",
    ])
    assert.sameMembers(dynamicImports, [
      "@billwright/dashboard",
      "@billwright/http",
      "@billwright/http/node",
      "@billwright/http/payer",
      "@billwright/memory",
      "@billwright/node",
    ])
  })
})

describe("billwright/stripe", () => {
  it("loads the adapter, and not the SDK of Stripe", async () => {
    const [{ dynamicImports, imports }] = await build("billwright/stripe")
    assert.deepStrictEqual(dynamicImports, [])
    assert.sameMembers(imports, ["@billwright/stripe", "effect"])
    const [adapter] = await build("@billwright/stripe")
    assert.sameMembers(adapter.imports, ["@billwright/core", "effect", "node:crypto"])
  })
})

describe("billwright/memory", () => {
  it("loads only the memory store", async () => {
    const [{ imports }] = await build("billwright/memory")
    assert.sameMembers(imports, ["@billwright/memory"])
  })
})
