/**
 * The commands `customers` and `usage` as people and programs use them, on a server in memory.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"

const TIMEOUT = 120_000
let server: Cli.Serving

beforeAll(async () => {
  server = await Cli.serve(["--store", "memory"])
}, TIMEOUT)
afterAll(() => server.stop(), TIMEOUT)

const env = () => ({ BILLWRIGHT_URL: server.url, BILLWRIGHT_API_KEY: server.keys.test })
const run = (...args: ReadonlyArray<string>) => Cli.run(args, { env: env() })
const json = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await run(...args, "--json")
  assert.deepStrictEqual([code, stderr], [0, ""])
  return JSON.parse(stdout) as Record<string, unknown>
}
const print = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr, stdout } = await run(...args)
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout
}
const create = async (name: string, ...more: ReadonlyArray<string>) =>
  String((await json("customers", "create", "--name", name, "--email", `${name}@example.com`, ...more))["id"])

describe("billwright customers", () => {
  it("creates, shows, changes, lists and erases customers", { timeout: TIMEOUT }, async () => {
    const id = await create("ada", "--metadata", "plan=pro", "--metadata", "team=blue")
    assert.deepInclude(await json("customers", "get", id), { metadata: { plan: "pro", team: "blue" } })
    const changed = ["--name", "Ada Lovelace", "--metadata", "plan=free", "--remove-metadata", "team"]
    const shown = await print("customers", "update", id, ...changed)
    assert.match(shown, new RegExp(`^id +${id}\nname +Ada Lovelace\nemail +ada@example.com\n`))
    assert.match(shown, /^metadata\.plan +free$/m)
    assert.notInclude(shown, "team")

    const other = await create("grace")
    const table = await print("customers", "list")
    const [header = "", first = "", second = ""] = table.split("\n")
    assert.match(header, /^ID +NAME +EMAIL +CREATED$/)
    assert.strictEqual(first.indexOf("grace "), header.indexOf("NAME"))
    assert.include(second, `${id}  Ada Lovelace  ada@example.com`)
    assert.deepInclude(await json("customers", "list", "--search", "LOVELACE"), { has_more: false })
    const page = await run("customers", "list", "--limit", "1")
    assert.strictEqual(page.stderr, `There are more: --starting-after ${other}\n`)
    assert.include(await print("customers", "list", "--limit", "1", "--starting-after", other), id)

    const kept = await run("customers", "delete", id)
    assert.strictEqual(kept.code, 1)
    assert.match(
      kept.stderr,
      /^billwright: this would erase .* for good and keep its usage: add --yes to do it\n$/,
    )
    assert.strictEqual(await print("customers", "delete", id, "--yes"), `${id} is erased.\n`)
    assert.match((await run("customers", "get", id)).stderr, /\(404 not_found\)\n$/)
  })

  it("explains wrong input", { timeout: TIMEOUT }, async () => {
    const nothing = await run("customers", "update", "cus_1")
    assert.match(nothing.stderr, /^billwright: nothing to change: give --name/)
    const wrong = await run("customers", "create", "--name", "Ada", "--email", "ada")
    assert.match(wrong.stderr, /^billwright: email .*\(400 invalid_request\)\n$/)
    assert.strictEqual(
      (await run("customers", "list", "--search", "nobody at all")).stderr,
      "There are none.\n",
    )
  })
})

describe("billwright usage", () => {
  it(
    "records usage once for an idempotency key, totals it exactly, lists and voids it",
    { timeout: TIMEOUT },
    async () => {
      const customer = await create("meter")
      const meter = ["--customer", customer, "--product", "api", "--unit", "call"]
      const most = String(Number.MAX_SAFE_INTEGER)
      const key = ["--idempotency-key", "request-1"]
      const when = ["--timestamp", "2026-11-20T08:15:00Z"]
      const first = await json("usage", "record", ...meter, "--quantity", most, ...key, ...when)
      assert.deepStrictEqual(
        await json("usage", "record", ...meter, "--quantity", most, ...key, ...when),
        first,
      )
      const second = await print("usage", "record", ...meter, "--quantity", "6")
      assert.match(second, /^quantity +6 call$/m)
      assert.match(second, /^state +counts$/m)

      // A double can't hold 2^53 - 1 + 6.
      const total = await print("usage", "summary", "--customer", customer)
      assert.match(total, /^total +9007199254740997 call$/m)
      const month = ["--start-date", "2026-11-20", "--end-date", "2026-11-20", "--timezone", "Europe/Paris"]
      const { stdout } = await run("usage", "summary", ...meter, ...month, "--json")
      assert.include(stdout, '"total_quantity":9007199254740991')
      assert.match(
        await print("usage", "summary", ...meter, ...month),
        /^days +2026-11-20 to 2026-11-20 \(Europe\/Paris\)$/m,
      )

      const id = String(first["id"])
      assert.match(await print("usage", "void", id), /^state +voided 20/m)
      assert.isString((await json("usage", "get", id))["voided_at"])
      const records = await print("usage", "records", "--customer", customer)
      assert.match(records, /^ID +PRODUCT +QUANTITY +UNIT +TIMESTAMP +STATE\n/)
      assert.match(
        records,
        new RegExp(`^${id}  api +${most} +call +2026-11-20T08:15:00.000Z +voided 20`, "m"),
      )
      assert.match(await print("usage", "summary", "--customer", customer), /^total +6 call$/m)
    },
  )
})
