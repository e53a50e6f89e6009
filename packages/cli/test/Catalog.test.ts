/**
 * `billwright catalog` as CI runs it, on a server in memory.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"

const TIMEOUT = 120_000
/** Three plans, made by `definePlan`. */
const MODULE = join(import.meta.dirname, "../../../examples/plans/src/plans.ts")
const KEYS = ["assistant_team", "desk_yearly", "maps_growth"]

let server: Cli.Serving
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-catalog-"))
  server = await Cli.serve(["--store", "memory"])
}, TIMEOUT)
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
}, TIMEOUT)

const shown = (...args: ReadonlyArray<string>) =>
  Cli.runHere(["catalog", ...args], {
    env: { BILLWRIGHT_URL: server.url, BILLWRIGHT_API_KEY: server.keys.test },
  })
const run = (...args: ReadonlyArray<string>) => shown(...args, "--json")

const file = async (name: string, content: unknown): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content))
  return path
}

interface Change {
  readonly key: string
  readonly status: string
  readonly version: number
  readonly changes: ReadonlyArray<{ readonly path: string; readonly from: unknown; readonly to: unknown }>
}
const changesOf = (stdout: string) => (JSON.parse(stdout) as { readonly data: ReadonlyArray<Change> }).data
const statuses = (stdout: string) => changesOf(stdout).map(({ status }) => status)

const plan = (price: string, more: object = {}) => ({
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: price } }],
  ...more,
})

describe("billwright catalog", () => {
  it("compares, pushes and pulls the plans of a module", { timeout: TIMEOUT }, async () => {
    const before = await run("diff", MODULE)
    assert.deepStrictEqual([before.code, before.stderr], [2, ""])
    assert.deepStrictEqual(statuses(before.stdout), ["created", "created", "created"])

    const pushed = await run("push", MODULE)
    assert.deepStrictEqual([pushed.code, pushed.stderr], [0, ""])
    assert.sameMembers(
      changesOf(pushed.stdout).map(({ key }) => key),
      KEYS,
    )
    const after = await run("diff", MODULE)
    assert.deepStrictEqual([after.code, after.stderr], [0, ""])
    assert.deepStrictEqual(statuses(after.stdout), ["unchanged", "unchanged", "unchanged"])

    const target = await file("pulled.json", "what was there before")
    const pulled = await run("pull", target)
    assert.deepStrictEqual([pulled.code, pulled.stderr], [0, ""])
    assert.deepStrictEqual(JSON.parse(pulled.stdout), { file: target, plans: KEYS, rate_cards: [] })
    const text = await readFile(target, "utf8")
    const [first] = JSON.parse(text) as ReadonlyArray<object>
    assert.deepStrictEqual(Object.keys(first!), Object.keys(first!).toSorted())
    assert.strictEqual((await run("diff", target)).code, 0)
    assert.strictEqual((await run("push", target)).code, 0)
    await run("pull", target)
    assert.strictEqual(await readFile(target, "utf8"), text)
  })

  it("takes a plan, a list of plans or an object with them as JSON", { timeout: TIMEOUT }, async () => {
    assert.deepStrictEqual(statuses((await run("push", await file("one.json", plan("20.00")))).stdout), [
      "created",
    ])
    const changed = await run("diff", await file("list.json", [plan("25.00")]))
    assert.strictEqual(changed.code, 2)
    assert.deepStrictEqual(changesOf(changed.stdout)[0]?.changes, [
      { path: "charges.base.price.EUR", from: "20.00", to: "25.00" },
    ])
    const object = await run("push", await file("object.json", { plans: [plan("25.00")] }))
    assert.deepInclude(changesOf(object.stdout)[0], { status: "changed", version: 2 })
    const source = `const pro = ${JSON.stringify(plan("25.00"))}\nexport default pro\nexport { pro }\nexport const other = 5\nexport const all = [pro]`
    assert.deepStrictEqual(statuses((await run("diff", await file("plans.mjs", source))).stdout), [
      "unchanged",
    ])
  })

  it("compares, pushes and pulls rate cards with plans", { timeout: TIMEOUT }, async () => {
    const card = { key: "llm", unit: "credit", decimals: 4, models: { large: { input: "2.00" } } }
    const both = await run("push", await file("both.json", { plans: [plan("25.00")], rate_cards: [card] }))
    assert.deepStrictEqual(statuses(both.stdout), ["unchanged", "created"])
    const dearer = { ...card, models: { large: { input: "2.50" } } }
    const source = `export const llm = ${JSON.stringify(dearer)}`
    const changed = await run("diff", await file("cards.mjs", source))
    assert.strictEqual(changed.code, 2)
    assert.deepInclude(changesOf(changed.stdout)[0], { key: "llm", status: "changed", version: 2 })
    const wrong = await run("push", await file("card.json", { ...card, models: { large: { input: 2 } } }))
    assert.strictEqual(
      wrong.stderr,
      'billwright: rate_cards.llm.models.large.input must be a string, such as "2"\n',
    )
    const target = join(folder, "with-cards.json")
    assert.deepInclude(JSON.parse((await run("pull", target)).stdout), { rate_cards: ["llm"] })
    const pulled = JSON.parse(await readFile(target, "utf8")) as { readonly rate_cards: unknown }
    assert.deepStrictEqual(pulled.rate_cards, [card])
    assert.strictEqual((await run("diff", target)).code, 0)
  })

  it("prints tables for people", { timeout: TIMEOUT }, async () => {
    const first = await shown("push", await file("table.json", plan("20.00", { key: "table" })))
    assert.deepStrictEqual(first.stdout.split("\n").slice(0, 2), [
      "KEY    KIND  STATUS   VERSION  FIELD  FROM  TO",
      "table  plan  created  1        -      -     -",
    ])
    const charges = [
      { key: "base", model: "flat", price: { EUR: "25.00" } },
      { key: "extra", model: "flat", price: { EUR: "1.00" } },
    ]
    const changed = await shown("diff", await file("table.json", plan("25.00", { key: "table", charges })))
    assert.strictEqual(changed.code, 2)
    const rows = changed.stdout.split("\n").map((line) => line.split(/\s{2,}/))
    assert.deepStrictEqual(rows[1], [
      "table",
      "plan",
      "changed",
      "2",
      "charges.base.price.EUR",
      "20.00",
      "25.00",
    ])
    assert.deepStrictEqual(rows[2]!.slice(0, 6), ["table", "plan", "changed", "2", "charges.extra", "-"])
    const target = join(folder, "table-pulled.json")
    assert.match((await shown("pull", target)).stdout, /^file {8}.+\nplans {7}.*table.*\nrate cards {2}/)
  })

  it("names every problem on a line of its own", { timeout: TIMEOUT }, async () => {
    const tiers = [{ up_to: "1000" }, { up_to: "2000" }, { up_to: "1000" }, {}]
    const charges = [{ key: "calls", model: "graduated", meter: "calls", tiers }]
    const wrong = await file("wrong.json", [plan("1", { key: "free" }), plan("1", { charges, name: "" })])
    for (const command of ["diff", "push"]) {
      const refused = await run(command, wrong)
      assert.deepStrictEqual(refused, {
        code: 1,
        stdout: "",
        stderr:
          "billwright: plans.pro.name must be a text of 1 to 200 characters\n" +
          "billwright: plans.pro.charges.calls.tiers[2].up_to must be greater than 2000\n",
      })
    }
    // Nothing of the push was stored.
    assert.deepStrictEqual(
      statuses((await run("diff", await file("free.json", plan("1", { key: "free" })))).stdout),
      ["created"],
    )
  })

  it("refuses what it would not push, and names it", { timeout: TIMEOUT }, async () => {
    const card = { key: "llm", unit: "credit", model: { large: { input: "2.00" } } }
    const module = (text: string) => `const pro = ${JSON.stringify(plan("1", { key: "unseen" }))}\n${text}`
    const nothingElse =
      /An object must be a plan or a rate card .* "plans" and "rate_cards" and nothing else$/
    const cases: ReadonlyArray<readonly [name: string, content: unknown, found: string, expected: RegExp]> = [
      ["camel.json", { plans: [plan("1")], rateCards: [] }, '"rateCards" is not expected', nothingElse],
      ["only.json", { rateCards: [] }, '"rateCards" is not expected', nothingElse],
      ["keyed.json", { key: "a", plans: [plan("1")] }, '"key" is not expected', nothingElse],
      ["map.json", { plans: [plan("1")], rate_cards: { llm: card } }, '"rate_cards"', /must be a list$/],
      ["plans.json", { plans: { pro: plan("1") }, rate_cards: [card] }, '"plans"', /must be a list$/],
      ["map.mjs", module("export const plans = { pro }"), '"plans" has plans', /Export each of them/],
      ["default.mjs", module("export default { plans: [pro] }"), '"default" has plans', /Export each of/],
      ["lists.mjs", module("export const all = [[pro]]"), '"all" has plans', /Export each of them/],
      ["null.json", { plans: [plan("1")], rate_cards: null }, '"rate_cards"', /must be a list$/],
      ["maps.mjs", module("export const all = [{ pro }]"), '"all" has plans', /Export each of them/],
      [
        "charge.mjs",
        module(
          "const { charges: charge, ...rest } = pro\nexport const team = { ...rest, charge }\nexport { pro }",
        ),
        '"team" has a key',
        /neither a plan with "charges" nor a rate card with "models"$/,
      ],
      ["model.mjs", `export const cards = [${JSON.stringify(card)}]`, '"cards" has a key', /neither a plan/],
    ]
    for (const [name, content, found, expected] of cases) {
      const path = await file(name, content)
      for (const command of ["diff", "push"]) {
        const refused = await run(command, path)
        assert.deepStrictEqual([refused.code, refused.stdout], [1, ""], name)
        assert.include(refused.stderr, `billwright: ${path} can't be read: `)
        assert.include(refused.stderr, found)
        assert.match(refused.stderr.trimEnd(), expected)
      }
    }
  })

  it("takes a module that exports other things beside its plans", { timeout: TIMEOUT }, async () => {
    const source = `export const base = ${JSON.stringify(plan("1").charges[0])}
export const charges = [base]
export const METERS = [{ key: "calls", productId: "api", unit: "call" }]
export const terms = { currencies: ["EUR"], interval: { unit: "month", count: 1 }, charges }
export const helped = { key: "helped", name: "Helped", ...terms }
export const byKey = { helped, others: [] }
export const priceOf = () => helped
export class Shop { key = "shop" }
export const none = null`
    const found = await run("diff", await file("helpers.mjs", source))
    assert.deepStrictEqual(
      changesOf(found.stdout).map(({ key, status }) => [key, status]),
      [["helped", "created"]],
      found.stderr,
    )
  })

  it("explains files that it can't use", { timeout: TIMEOUT }, async () => {
    const cases: ReadonlyArray<readonly [command: string, path: string, message: RegExp]> = [
      ["diff", join(folder, "none.json"), /can't be read: there is no such file$/],
      ["diff", await file("broken.json", "{"), /broken\.json can't be read: .*JSON/],
      [
        "push",
        await file("throws.mjs", `throw new Error("no plans today")`),
        /can't be read: no plans today$/,
      ],
      ["push", await file("empty.mjs", "export const a = 1"), /has no plans: export what definePlan gives/],
      ["push", await file("empty.json", "[]"), /has no plans/],
      ["push", await file("plans.yaml", ""), /is no file of plans: it must end with \.json, \.ts,/],
      ["pull", join(folder, "plans.ts"), /can't be written: plans are pulled to a \.json file$/],
      ["pull", join(folder, "missing", "plans.json"), /can't be written: /],
    ]
    for (const [command, path, message] of cases) {
      const refused = await run(command, path)
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""], path)
      assert.match(refused.stderr.trimEnd(), message)
      assert.isTrue(refused.stderr.startsWith("billwright: "), refused.stderr)
    }
  })
})
