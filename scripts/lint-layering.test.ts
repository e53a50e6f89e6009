/**
 * Tests the layering rules of the linter: breaks each rule once, and the linter must report it.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "./workspace.ts"

const IMPORTS = "eslint(no-restricted-imports)"
const GLOBALS = "eslint(no-restricted-globals)"
const PROPERTIES = "eslint(no-restricted-properties)"
const CYCLE = "import(no-cycle)"

/** A folder, a source for it, and the rule that must report it. */
const forbidden: ReadonlyArray<readonly [folder: string, source: string, rule: string]> = [
  ...[
    "@billwright/memory",
    "@billwright/engine",
    "@billwright/http/api",
    "effect/http",
    "effect/http/HttpClient",
    "effect/http-api",
    "effect/sql",
    "effect/crypto",
    "effect/persistence",
    "effect/workflow",
    "effect/cluster",
    "effect/unstable/http",
    "effect/schema/Model",
    "@effect/platform-node",
    "node:crypto",
    "fs",
    "pg",
    "../../../memory/src/index.ts",
  ].flatMap((specifier): typeof forbidden => [
    ["core/src/usage", `export * from "${specifier}"`, IMPORTS],
    ["core/src", `import type { X } from "${specifier}"\nexport type Y = X`, IMPORTS],
  ]),
  ...["shared", "customers", "catalog", "events", "usage", "webhooks", "keys"].flatMap(
    (folder, at, folders) =>
      [...folders.slice(at + 1).map((later) => `${later}/X.ts`), "Billing.ts"].map(
        (path) =>
          [`core/src/${folder}`, `import type { X } from "../${path}"\nexport type Y = X`, IMPORTS] as const,
      ),
  ),
  ["core/src/customers", `import "node:fs"`, IMPORTS],
  ...[
    "@billwright/http",
    "@billwright/postgres",
    "effect/sql",
    "@effect/sql-pg",
    "node:fs",
    "../../core/src/index.ts",
  ].map((specifier) => ["memory/src", `import "${specifier}"`, IMPORTS] as const),
  ...["effect", "@billwright/core", "@billwright/engine", "node:crypto", "../../../core/src/index.ts"].map(
    (specifier) => ["engine/src/rating", `import "${specifier}"`, IMPORTS] as const,
  ),
  ["pdf/src", `import "@billwright/core"`, IMPORTS],
  ["pdf/src", `import "effect"`, IMPORTS],
  // Words and style of documents are loaded with the first document, by the folder that makes them.
  ["core/src/invoices", `import "@billwright/engine/documents"`, IMPORTS],
  ...["core/src/usage", "engine/src/money", "memory/src"].flatMap((folder): typeof forbidden => [
    [folder, "export const now = Date.now()", GLOBALS],
    [folder, "export const now = globalThis.Date.now()", GLOBALS],
    [folder, "export const now = new Date()", GLOBALS],
    [folder, "export const at = new Date(0)", GLOBALS],
    [folder, "export const random = Math.random()", PROPERTIES],
    [folder, "setTimeout(() => {}, 1)", GLOBALS],
    [folder, "export const env = process.env", GLOBALS],
  ]),
  ["http/src/api", `import "../server/index.ts"`, IMPORTS],
  ["http/src/api/usage", `import "../../server/Handlers.ts"`, IMPORTS],
  ["http/src/api", `import "../node/index.ts"`, IMPORTS],
  ["http/src/api", `import "node:http"`, IMPORTS],
  ["http/src/api", `import "@billwright/postgres"`, IMPORTS],
  ["http/src/server", `import "@billwright/memory"`, IMPORTS],
  ["http/src/server", `import "effect/sql"`, IMPORTS],
  ["http/src/server", `import "node:http"`, IMPORTS],
  ["http/src/server", `import "../node/index.ts"`, IMPORTS],
  ["http/src/server", `export const random = Math.random()`, PROPERTIES],
  ["http/src", `export const body = Buffer.from("")`, GLOBALS],
  ["http/src", `import "@effect/platform-node"`, IMPORTS],
  ["http/src/node", `import "@billwright/memory"`, IMPORTS],
  ["postgres/src", `import "@billwright/memory"`, IMPORTS],
  ["postgres/src", `import "effect/http"`, IMPORTS],
  ["postgres/src", `export const now = Date.now()`, PROPERTIES],
  ["node/src", `import "@billwright/postgres"`, IMPORTS],
  ["node/src", `import "effect/http"`, IMPORTS],
  ["node/src", `import "../../core/src/index.ts"`, IMPORTS],
  ["stripe/src", `import { Stripe } from "stripe"\nexport const x = Stripe`, IMPORTS],
  ["stripe/src", `import "@billwright/postgres"`, IMPORTS],
  ["stripe/src", `import "effect/http"`, IMPORTS],
  ["stripe/src", `export const now = Date.now()`, PROPERTIES],
  ["testing/src", `import "@billwright/memory"`, IMPORTS],
  ...["effect", "@billwright/core", "node:crypto", "@noble/hashes/hmac.js", "../index.ts"].map(
    (specifier) => ["billwright/src/verify", `import "${specifier}"`, IMPORTS] as const,
  ),
  ["billwright/src/verify", `export const body = Buffer.from("")`, GLOBALS],
  ["dashboard/src", `import "@billwright/http"`, IMPORTS],
  ["dashboard/src", `import "../app/Mount.ts"`, IMPORTS],
  ["dashboard/app/api", `import "@billwright/core"`, IMPORTS],
  ["dashboard/app/api", `import "effect"`, IMPORTS],
  ["dashboard/app/api", `import "../../src/Handler.ts"`, IMPORTS],
  ["dashboard/app/ui", `document.body.innerHTML = "<b>"`, PROPERTIES],
  ...["@billwright/testing", "@billwright/cli", "effect/sql", "../../core/src/index.ts"].map(
    (specifier) => ["billwright/src", `import "${specifier}"`, IMPORTS] as const,
  ),
  ...["effect", "@billwright/core", "node:crypto"].map(
    (specifier) =>
      ["billwright/src/client", `import type { X } from "${specifier}"\nexport type Y = X`, IMPORTS] as const,
  ),
  ["billwright/src/client", `export const body = Buffer.from("")`, GLOBALS],
  ["cli/src", `import "@billwright/testing"`, IMPORTS],
  ["core/test", `import "../../memory/src/index.ts"`, IMPORTS],
  ["core/test", `setTimeout(() => {}, 1)`, GLOBALS],
  ["core/test", `import { it } from "vitest"\nit.only("x", () => {})`, "vitest(no-focused-tests)"],
  ["core/src", `export const x = (y: any) => y`, "typescript(no-explicit-any)"],
  ["core/src", `export default 1`, "import(no-default-export)"],
]

const allowed: ReadonlyArray<readonly [folder: string, source: string]> = [
  [
    "core/src/usage",
    `import { Effect } from "effect"\nexport * from "../customers/Customer.ts"\nexport { Effect }`,
  ],
  ["core/src", `export * from "effect/Schema"`],
  ["core/src", `export * from "./http/node/Thing.ts"`],
  ["memory/src", `export * from "@billwright/core"`],
  ["http/src/api", `export * from "effect/http-api"\nexport * from "@billwright/core"`],
  ["http/src/server", `export * from "../api/index.ts"\nexport * from "effect/http"`],
  [
    "http/src/node",
    `export * from "node:http"\nexport * from "../server/index.ts"\nexport const { env } = process`,
  ],
  ["postgres/src", `export * from "@effect/sql-pg"\nexport * from "effect/sql"\nexport * from "node:path"`],
  ["node/src", `export * from "@billwright/core"\nexport * from "undici"\nexport * from "node:tls"`],
  [
    "stripe/src",
    `import type { Stripe } from "stripe"\nexport type Y = Stripe\nexport * from "@billwright/core"`,
  ],
  ["testing/src", `export * from "@billwright/core"\nexport * from "fast-check"`],
  ["billwright/src/verify", `export * from "./WebhookKeys.ts"\nexport const now = new Date()`],
  ["dashboard/src", `export * from "node:zlib"\nexport * from "./Handler.ts"`],
  ["dashboard/app/api", `export * from "react"\nexport * from "../../src/PageConfig.ts"`],
  [
    "billwright/src",
    `export * from "effect"\nexport * from "@billwright/postgres"\nexport * from "node:http"`,
  ],
  ["billwright/src/client", `export * from "./ApiError.ts"\nexport * from "./ExactJson.ts"`],
  ["cli/src", `export * from "@billwright/postgres"\nexport * from "@billwright/http/node"`],
  ["core/test", `export * from "@billwright/memory"\nexport * from "../src/index.ts"`],
  ["postgres/test", `setTimeout(() => {}, 1)`],
]

interface Diagnostic {
  readonly code: string
  readonly filename: string
}

const directory = mkdtempSync(join(tmpdir(), "billwright-lint-"))
const rulesBroken = new Map<string, Set<string>>()

const plant = (path: string, source: string) => {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), `${source}\n`)
}

const forbiddenPath = (index: number) => `packages/${forbidden[index]![0]}/forbidden${index}.ts`
const allowedPath = (index: number) => `packages/${allowed[index]![0]}/allowed${index}.ts`

beforeAll(() => {
  cpSync(join(root, ".oxlintrc.json"), join(directory, ".oxlintrc.json"))
  forbidden.forEach(([, source], index) => plant(forbiddenPath(index), source))
  allowed.forEach(([, source], index) => plant(allowedPath(index), source))
  plant("packages/core/src/cycle/A.ts", `export { b } from "./B.ts"\nexport const a = 1`)
  plant("packages/core/src/cycle/B.ts", `import type { a } from "./A.ts"\nexport const b: typeof a = 1`)
  const { error, stderr, stdout } = spawnSync("oxlint", ["--format", "json"], {
    cwd: directory,
    encoding: "utf8",
  })
  assert.isUndefined(error)
  assert.match(stdout, /^\s*\{/, `oxlint failed:\n${stdout}${stderr}`)
  const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: ReadonlyArray<Diagnostic> }
  for (const { code, filename } of diagnostics) {
    rulesBroken.set(filename, (rulesBroken.get(filename) ?? new Set()).add(code))
  }
})
afterAll(() => rmSync(directory, { recursive: true }))

const broken = (path: string) => [...(rulesBroken.get(path) ?? [])]

describe("the linter reports", () => {
  for (const [index, [folder, source, rule]] of forbidden.entries()) {
    it(`${folder}: ${source}`, () => assert.include(broken(forbiddenPath(index)), rule))
  }
  it("a cycle, even of types only", () => assert.include(broken("packages/core/src/cycle/A.ts"), CYCLE))
})

describe("the linter accepts", () => {
  for (const [index, [folder, source]] of allowed.entries()) {
    it(`${folder}: ${source}`, () => assert.deepEqual(broken(allowedPath(index)), []))
  }
})
