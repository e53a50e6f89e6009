/** The declarations that a host's compiler sees have no type of Effect or of the internal packages, except those for adapters. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const root = fileURLToPath(new URL("../../", import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly publishConfig: { readonly exports: Readonly<Record<string, { readonly types: string } | string>> }
}
const out = mkdtempSync(join(tmpdir(), "billwright-declarations-"))

/** Compiles without project references, which would have to be built. Other packages are read from their sources. */
const CONFIG = {
  extends: join(root, "tsconfig.json"),
  compilerOptions: {
    rootDir: join(root, "src"),
    outDir: out,
    typeRoots: [join(root, "../../node_modules/@types")],
    emitDeclarationOnly: true,
    declarationMap: false,
    sourceMap: false,
    composite: false,
    incremental: false,
  },
  include: [join(root, "src/**/*.ts")],
  references: [],
}

beforeAll(() => {
  writeFileSync(join(out, "tsconfig.json"), JSON.stringify(CONFIG))
  const { error, status, stderr, stdout } = spawnSync("tsc", ["-p", out], { encoding: "utf8" })
  assert.isUndefined(error)
  assert.strictEqual(status, 0, `tsc failed:\n${stdout}${stderr}`)
}, 240_000)
afterAll(() => rmSync(out, { recursive: true }))

const IMPORT = /(?:from|import)\s*\(?\s*["']([^"']+)["']/g

/** All declarations that an entry point imports, and their imports of other packages. */
const reach = (entry: string): { readonly files: number; readonly imports: ReadonlySet<string> } => {
  const imports = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const source = readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "") // examples in comments have imports, too
    for (const [, specifier] of source.matchAll(IMPORT)) {
      if (!specifier!.startsWith(".")) imports.add(specifier!)
      else visit(join(dirname(file), specifier!.replace(/\.[jt]s$/, ".d.ts")))
    }
  }
  visit(entry)
  return { files: seen.size, imports }
}

describe("the declarations", () => {
  const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
    // The declarations of the engine are published together with these, and import nothing else.
    ".": ["@billwright/engine", "node:http"],
    "./adapter": ["@billwright/core", "@billwright/engine", "effect", "node:http"],
    "./client": ["@billwright/engine"],
    "./einvoices": ["@billwright/engine/einvoices"],
    "./memory": [],
    "./postgres": [],
    "./proof": ["@billwright/engine/proofs"],
    "./rating": ["@billwright/engine/rating"],
    // The host's own client. Its types are imported only.
    "./stripe": ["stripe"],
    "./testing": ["@billwright/engine", "node:http"],
    "./verify": [],
  }
  for (const [name, target] of Object.entries(manifest.publishConfig.exports)) {
    if (typeof target === "string") continue
    it(`of billwright${name.slice(1)} import only allowed packages`, () => {
      const entry = join(out, target.types.replace("./dist/", ""))
      assert.isTrue(existsSync(entry))
      const { files, imports } = reach(entry)
      assert.isAbove(files + imports.size, 1)
      assert.sameMembers([...imports], [...(allowed[name] ?? [])])
    })
  }
})
