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
const run = (...args: ReadonlyArray<string>) => Cli.runHere(args, { env: env() })
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
    assert.notMatch(shown, /^metadata\.team/m) // an id may happen to contain the word

    const other = await create("grace", "--country", "GB", "--net-days", "30")
    assert.deepInclude(await json("customers", "get", other), { country: "GB", net_days: 30 })
    const moved = await json("customers", "update", other, "--country", "FR", "--timezone", "Europe/Paris")
    assert.deepInclude(moved, { name: "grace", country: "FR", timezone: "Europe/Paris", net_days: 30 })
    const table = await print("customers", "list")
    const [header = "", first = "", second = ""] = table.split("\n")
    assert.match(header, /^ID +NAME +EMAIL +CREATED AT$/)
    assert.strictEqual(first.indexOf("grace "), header.indexOf("NAME"))
    assert.include(second, `${id}  Ada Lovelace  ada@example.com`)
    assert.deepInclude(await json("customers", "list", "--search", "LOVELACE"), { has_more: false })
    const page = await run("customers", "list", "--limit", "1")
    assert.strictEqual(page.stderr, `There are more: --starting-after ${other}\n`)
    assert.include(await print("customers", "list", "--limit", "1", "--starting-after", other), id)

    const lines = (await print("customers", "export", id)).trimEnd().split("\n")
    const exported = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepInclude(exported[0], { object: "customer", id, name: "Ada Lovelace" })
    assert.deepInclude(exported.at(-1), { object: "customer_export", lines: exported.length - 1 })
    const unknown = await run("customers", "export", `cus_${"0".repeat(26)}`)
    assert.deepStrictEqual([unknown.code, unknown.stdout], [1, ""])

    const kept = await run("customers", "delete", id)
    assert.strictEqual(kept.code, 1)
    assert.match(
      kept.stderr,
      /^billwright: this would erase .* for good, and keep the usage: cus_\w+\. Add --yes to do it\n$/,
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
      assert.match(records, /^ID +PRODUCT +QUANTITY +UNIT +DIMENSIONS +TIMESTAMP +STATE\n/)
      assert.match(
        records,
        new RegExp(`^${id}  api +${most} +call +2026-11-20T08:15:00.000Z +voided 20`, "m"),
      )
      assert.match(await print("usage", "summary", "--customer", customer), /^total +6 call$/m)
    },
  )
})

describe("billwright meters", () => {
  const PROMPT = ["--dimension", "model=opus", "--dimension", "kind=input"]

  it("creates, shows, changes, builds and archives meters", { timeout: TIMEOUT }, async () => {
    const customer = await create("meters")
    const record = ["usage", "record", "--customer", customer, "--product", "chat", "--unit", "token"]
    const shown = await print(...record, "--quantity", "900", ...PROMPT)
    assert.match(shown, /^dimension model +opus\ndimension kind +input$/m)
    await print(...record, "--quantity", "100", "--dimension", "model=opus", "--dimension", "kind=output")
    await print(...record, "--quantity", "7")
    const table = await print("usage", "records", "--customer", customer)
    assert.match(table, /model=opus kind=input/)

    const made = await print(
      "meters",
      "create",
      "--key",
      "tokens",
      "--product",
      "chat",
      "--unit",
      "token",
      "--dimension",
      "model",
      "--dimension",
      "kind",
    )
    assert.match(made, /^definition +sum by model, kind$/m)
    assert.match(made, /^status +ready$/m)
    const grouped = await print(
      "usage",
      "summary",
      "--customer",
      customer,
      "--meter",
      "tokens",
      "--where",
      "model=opus",
      "--group-by",
      "kind",
    )
    assert.match(grouped, /^total +1000 token$/m)
    assert.match(grouped, /\n\nKIND +TOTAL +RECORDS\ninput +900 +1\noutput +100 +1\n$/)
    const all = await print(
      "usage",
      "summary",
      "--customer",
      customer,
      "--meter",
      "tokens",
      "--group-by",
      "model",
    )
    assert.match(all, /\(none\) +7 +1\nopus +1000 +2\n$/)
    const filtered = [
      "usage",
      "records",
      "--customer",
      customer,
      "--meter",
      "tokens",
      "--where",
      "kind=input",
    ]
    assert.lengthOf((await json(...filtered))["data"] as ReadonlyArray<unknown>, 1)

    const changed = await print("meters", "update", "tokens", "--aggregation", "max", "--dimension", "kind")
    assert.match(changed, /^key +tokens$/m)
    const built = await run("meters", "rebuild", "tokens")
    assert.strictEqual(built.code, 0)
    assert.match(built.stdout, /^definition +max by kind\nstatus +ready\n$/m)
    assert.include(await print("meters", "list"), "max by kind")
    const largest = await print("usage", "summary", "--customer", customer, "--meter", "tokens")
    assert.match(largest, /^total +900 token$/m)

    const kept = await run("meters", "archive", "tokens")
    assert.match(kept.stderr, /^billwright: this would end the meter tokens for good .* add --yes/)
    assert.match(await print("meters", "archive", "tokens", "--yes"), /^mtr_\w+ is archived\.\n$/)
    assert.match(await print("meters", "get", "tokens"), /^status +archived$/m)
  })

  it("shows an average as a decimal", { timeout: TIMEOUT }, async () => {
    const customer = await create("seats")
    const record = ["usage", "record", "--customer", customer, "--product", "app", "--unit", "seat"]
    await print(...record, "--quantity", "4", "--timestamp", "2026-06-01T00:00:00Z")
    await print(...record, "--quantity", "10", "--timestamp", "2026-06-11T00:00:00Z")
    await print(
      "meters",
      "create",
      "--key",
      "seats",
      "--product",
      "app",
      "--unit",
      "seat",
      "--aggregation",
      "time_weighted",
    )
    const june = ["--start-date", "2026-06-01", "--end-date", "2026-06-30"]
    const summary = ["usage", "summary", "--customer", customer, "--meter", "seats"]
    assert.match(await print(...summary, ...june), /^total +8 seat$/m)
    const eleven = ["--start-date", "2026-06-01", "--end-date", "2026-06-11"]
    assert.match(await print(...summary, ...eleven), /^total +≈ 4\.545454 seat$/m)
  })

  it("explains wrong input", { timeout: TIMEOUT }, async () => {
    const unknown = await run("meters", "get", "nothing")
    assert.match(unknown.stderr, /^billwright: no meter has the key nothing: billwright meters list\n$/)
    const nothing = await run("meters", "update", "nothing")
    assert.match(nothing.stderr, /^billwright: nothing to change: give --name/)
    const where = await run("usage", "summary", "--customer", "cus_1", "--meter", "a", "--where", "opus")
    assert.match(
      where.stderr,
      /^billwright: --where must be a dimension and a value, such as model=opus: opus\n$/,
    )
    const wrong = await run("meters", "create", "--key", "A", "--product", "p", "--unit", "u")
    assert.match(wrong.stderr, /^billwright: key must be a lower-case letter, .*\(400 invalid_request\)\n$/)
  })
})
