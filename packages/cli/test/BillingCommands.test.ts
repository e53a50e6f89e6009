/**
 * The commands of subscriptions, test clocks, invoices, coupons, payments, credit notes, credits and spend alerts, on a server in memory.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"

const TIMEOUT = 120_000
let server: Cli.Serving
let customer: string

const run = (...args: ReadonlyArray<string>) =>
  Cli.runHere(args, { env: { BILLWRIGHT_URL: server.url, BILLWRIGHT_API_KEY: server.keys.test } })

const print = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr, stdout } = await run(...args)
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout
}

const json = async (...args: ReadonlyArray<string>) =>
  JSON.parse(await print(...args, "--json")) as Record<string, unknown>

const idOf = async (...args: ReadonlyArray<string>) => String((await json(...args))["id"])

/** The error of a command that is refused. */
const refusal = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr } = await run(...args)
  assert.strictEqual(code, 1)
  return stderr
}

const pro = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
  ],
}

beforeAll(async () => {
  server = await Cli.serve(["--store", "memory", "--no-dispatch", "--credit-units", "coin=2"])
  await Cli.call(server.url, server.keys.test, "POST", "/v1/catalog/push", { plans: [pro] })
  customer = await idOf("customers", "create", "--name", "Ada", "--email", "ada@example.com")
}, TIMEOUT)
afterAll(() => server.stop(), TIMEOUT)

const subscribe = (...more: ReadonlyArray<string>) => [
  "subscriptions",
  "create",
  "--customer",
  customer,
  "--plan",
  "pro",
  "--quantity",
  "seats=2",
  ...more,
]

describe("billwright subscriptions", () => {
  it("creates, shows, lists, changes, pauses, reconciles and ends them", { timeout: TIMEOUT }, async () => {
    const trial = await json(...subscribe("--trial-days", "14", "--metadata", "order=4711"))
    assert.deepInclude(trial, { phase: "trialing", metadata: { order: "4711" }, quantities: { seats: "2" } })
    const id = await idOf(...subscribe("--trial-days", "0"))
    const shown = await print("subscriptions", "get", id)
    assert.match(shown, new RegExp(`^id +${id}\ncustomer_id +${customer}\nphase +active\nplan\\.key +pro\n`))
    assert.match(shown, /^quantities\.seats +2$/m)
    const table = await print("subscriptions", "list", "--phase", "active")
    assert.match(table, /^ID +PHASE +CUSTOMER ID +CURRENT PERIOD END +ENDS AT\n/)
    assert.include(table, id)
    assert.notInclude(table, String(trial["id"]))

    const command = (name: string, ...more: ReadonlyArray<string>) => json("subscriptions", name, id, ...more)
    const changed = await command("change", "--quantity", "seats=3", "--at", "now")
    assert.deepStrictEqual(changed["quantities"], { seats: "3" })
    assert.isString((await command("cancel", "--at", "period_end"))["ends_at"])
    assert.isNull((await command("uncancel"))["ends_at"])
    assert.deepInclude(await command("pause", "--credit", "none"), { phase: "paused" })
    assert.deepInclude(await command("resume", "--anchor", "keep"), { phase: "active" })
    assert.deepInclude(await command("reconcile"), { object: "reconciliation", invoice: null })
    assert.deepInclude(await run("subscriptions", "reconcile", id), { code: 0, stderr: "Nothing differs.\n" })
    assert.deepInclude(await command("cancel", "--at", "now", "--credit", "prorate"), { phase: "ended" })
    assert.match(
      await refusal("subscriptions", "resume", id),
      /^billwright: sub_.*: resume is not possible .*\(409 conflict\)\n$/,
    )
    assert.match(
      await refusal("subscriptions", "change", id, "--at", "soon"),
      /^billwright: at must be now, /,
    )
  })
})

describe("billwright clock", () => {
  it("creates, advances, lists and deletes test clocks", { timeout: TIMEOUT }, async () => {
    const id = await idOf("clock", "create", "--name", "A year", "--now", "2026-01-01T00:00:00Z")
    const person = ["--name", "Grace", "--email", "grace@example.com"]
    const owner = await idOf("customers", "create", ...person, "--test-clock", id)
    const plan = ["--customer", owner, "--plan", "pro", "--quantity", "seats=2"]
    await json("subscriptions", "create", ...plan)
    const advanced = await print("clock", "advance", id, "--to", "2027-01-02T00:00:00Z")
    assert.strictEqual(
      advanced,
      `${id} stands at 2027-01-02T00:00:00.000Z. What was due on the way is done.\n`,
    )
    const page = await json("invoices", "list", "--customer", owner, "--limit", "100")
    assert.lengthOf(page["data"] as ReadonlyArray<unknown>, 13)
    assert.match(
      await print("clock", "list"),
      /^ID +NAME +STATUS +NOW +ADVANCING TO\n.* A year +ready +2027-/,
    )
    assert.deepInclude(await json("clock", "get", id), { now: "2027-01-02T00:00:00.000Z", status: "ready" })
    assert.match(
      await refusal("clock", "advance", id, "--to", "2026-06-01T00:00:00Z"),
      /^billwright: to .*\(400 /,
    )
    assert.match(await refusal("clock", "delete", id), /has customers.*\(409 conflict\)\n$/)
    const unused = await idOf("clock", "create")
    assert.strictEqual(await print("clock", "delete", unused), `${unused} is deleted.\n`)
  })
})

describe("billwright invoices", () => {
  it(
    "makes, shows, issues, voids and deletes those without a subscription",
    { timeout: TIMEOUT },
    async () => {
      const lines = ["--line", "90000 Workshop", "--line", "-10000 Rebate of a friend"]
      const create = ["invoices", "create", "--customer", customer, "--currency", "EUR"]
      const draft = await json(...create, ...lines)
      assert.deepInclude(draft, { status: "draft", total: 80_000 })
      const id = String(draft["id"])
      const shown = await print("invoices", "get", id)
      assert.match(shown, /^total +80000$/m)
      assert.match(shown, /\n\nID +KIND +DESCRIPTION +QUANTITY +AMOUNT\n/)
      assert.match(shown, /item +Rebate of a friend +- +-10000$/m)
      assert.match(
        await refusal("invoices", "finalize", id),
        /^billwright: this would issue the draft for good: inv_\w+\. Add --yes to do it\n$/,
      )
      assert.deepInclude(await json("invoices", "finalize", id, "--yes"), { status: "open" })
      assert.strictEqual(
        await refusal("invoices", "finalize", id),
        `billwright: the invoice ${id} is issued already: it is open\n`,
      )
      assert.match(await refusal("invoices", "delete", id, "--yes"), /\(409 conflict\)\n$/)
      assert.deepInclude(await json("invoices", "mark-uncollectible", id), { status: "uncollectible" })
      assert.deepInclude(await json("invoices", "void", id, "--yes"), { status: "void" })

      const other = await idOf(...create, "--line", "500 Sticker")
      assert.strictEqual(await print("invoices", "delete", other, "--yes"), `${other} is deleted.\n`)
      assert.match(await refusal(...create, "--line", "Sticker"), /^billwright: --line must be an amount in/)
      assert.include(await print("invoices", "list", "--customer", customer, "--status", "void"), id)
    },
  )

  it("lists the records behind a line, and shows the next one", { timeout: TIMEOUT }, async () => {
    const subscription = await idOf(...subscribe())
    const upcoming = await json("invoices", "upcoming", subscription)
    assert.deepInclude(upcoming["invoice"], { status: "draft", total: 3_000 })
    assert.match(await print("invoices", "upcoming", subscription), /^total +3000$/m)
    const page = await json("invoices", "list", "--subscription", subscription)
    const [first] = page["data"] as ReadonlyArray<{ id: string; lines: ReadonlyArray<{ id: string }> }>
    const none = await run("invoices", "records", first!.id, first!.lines[0]!.id)
    assert.deepInclude(none, { code: 0, stderr: "There are none.\n" })
    await json("subscriptions", "cancel", subscription, "--at", "now")
    assert.deepInclude(await run("invoices", "upcoming", subscription), { stderr: "No invoice will come.\n" })
  })

  it("picks up items", { timeout: TIMEOUT }, async () => {
    const create = ["invoice-items", "create", "--customer", customer, "--currency", "EUR"]
    const id = await idOf(...create, "--amount", "4900", "--description", "Onboarding")
    const other = await idOf(...create, "--amount", "-100", "--description", "Rebate")
    assert.strictEqual(await print("invoice-items", "delete", other), `${other} is deleted.\n`)
    assert.match(await print("invoice-items", "get", id), /^description +Onboarding$/m)
    const draft = await json("invoices", "create", "--customer", customer, "--currency", "EUR")
    assert.deepInclude(draft, { total: 4_900 })
    assert.include(await print("invoice-items", "list", "--invoice", String(draft["id"])), id)
  })
})

describe("billwright coupons", () => {
  it("creates, redeems, ends and archives them", { timeout: TIMEOUT }, async () => {
    const create = ["coupons", "create", "--name", "Half", "--duration", "forever"]
    const half = await json(...create, "--code", "HALF", "--percent", "50", "--charge", "base")
    assert.deepInclude(half, { percent: "50", charges: ["base"], plans: null })
    const fixed = await json(...create, "--code", "FIVE", "--amount", "EUR=5.00", "--amount", "USD=6")
    assert.deepStrictEqual(fixed["amount"], { EUR: "5.00", USD: "6" })
    assert.match(
      await refusal(...create, "--code", "SIX", "--amount", "EUR=six"),
      /^billwright: amount\.EUR must/,
    )
    const subscription = await idOf(...subscribe())
    const redeemed = await idOf("coupons", "redeem", "HALF", "--subscription", subscription)
    assert.include(await print("coupons", "redemptions", "--subscription", subscription), redeemed)
    assert.strictEqual(await print("coupons", "end", redeemed), `${redeemed} is ended.\n`)
    const id = String(half["id"])
    assert.match(await refusal("coupons", "archive", id), /Add --yes to do it\n$/)
    assert.strictEqual(await print("coupons", "archive", id, "--yes"), `${id} is archived.\n`)
    assert.match(await print("coupons", "list", "--code", "HALF"), /Half +50 +forever +1 +\d{4}-/)
    assert.match(await print("coupons", "get", id), /^code +HALF$/m)
  })
})

describe("billwright payments and credit-notes", () => {
  it("record what came, and give back what is left", { timeout: TIMEOUT }, async () => {
    const create = [
      "invoices",
      "create",
      "--customer",
      customer,
      "--currency",
      "EUR",
      "--line",
      "1000 Workshop",
    ]
    const draft = await json(...create)
    const id = String(draft["id"])
    const [line] = draft["lines"] as ReadonlyArray<{ id: string }>
    await json("invoices", "finalize", id, "--yes")
    const part = await json("payments", "record", "--invoice", id, "--amount", "300", "--reference", "4711")
    assert.deepInclude(part, { status: "succeeded", amount: 300 })
    assert.include(await print("payments", "list", "--invoice", id), String(part["id"]))
    assert.match(await print("payments", "get", String(part["id"])), /^reference +4711$/m)
    const reason = ["--reason", "other"]
    const note = await json("credit-notes", "create", "--invoice", id, ...reason, "--line", `${line!.id}=200`)
    assert.deepInclude(note, { total: 200, reason: "other" })
    const rest = await json("credit-notes", "create", "--invoice", id, ...reason)
    assert.deepInclude(rest, { total: 800 })
    assert.match(await print("credit-notes", "get", String(note["id"])), /^number +CN-/m)
    assert.include(await print("credit-notes", "list", "--invoice", id), String(rest["id"]))
  })
})

describe("billwright entitlements", () => {
  it("list, check and consume features", { timeout: TIMEOUT }, async () => {
    const meter = { key: "exports", product_id: "export", unit: "export" }
    await Cli.call(server.url, server.keys.test, "POST", "/v1/meters", meter)
    const features = {
      exports: { type: "metered", meter: "exports", included: "3", limit: "hard" },
      seats: { type: "config", value: "5" },
    }
    const plan = { ...pro, key: "exporter", charges: [], features }
    await Cli.call(server.url, server.keys.test, "POST", "/v1/catalog/push", { plans: [plan] })
    const owner = await idOf("customers", "create", "--name", "Grace", "--email", "grace@example.com")
    await json("subscriptions", "create", "--customer", owner, "--plan", "exporter")
    const of = ["--customer", owner]
    const table = await print("entitlements", "list", ...of)
    assert.match(
      table,
      /^FEATURE +TYPE +ALLOWED +REASON +VALUE +LIMIT +ROLLED OVER +USED +BALANCE +RESETS AT\n/,
    )
    assert.match(table, /^exports +metered +true +included +- +3 +0 +0 +3 +\d{4}-/m)
    assert.match(table, /^seats +config +true +included +5 +- +- +- +- +-/m)
    const use = ["entitlements", "consume", "exports", ...of, "--quantity", "2"]
    const consumed = await json(...use, "--idempotency-key", "k", "--dimension", "region=eu")
    assert.deepInclude(consumed, { allowed: true, used: 2, balance: 1, idempotency_key: "k" })
    const refused = await json("entitlements", "check", "exports", ...of, "--quantity", "2")
    assert.deepInclude(refused, { allowed: false, reason: "limit_reached" })
    assert.match(await print("entitlements", "check", "seats", ...of), /^value +5$/m)
  })
})

describe("billwright credits", () => {
  const account = () => ["--customer", customer, "--unit", "token"]

  it("grant, show, list and take back", { timeout: TIMEOUT }, async () => {
    const grant = (amount: string, ...more: ReadonlyArray<string>) =>
      json("credits", "grant", ...account(), "--kind", "paid", "--amount", amount, ...more)
    const first = await grant("100", "--priority", "10", "--idempotency-key", "order 4711")
    assert.deepInclude(first, { kind: "paid", amount: 100, priority: 10, idempotency_key: "order 4711" })
    assert.deepStrictEqual(await grant("100", "--priority", "10", "--idempotency-key", "order 4711"), first)
    const expiring = await grant("50", "--expires-at", "2100-01-01T00:00:00Z")
    assert.strictEqual(expiring["expires_at"], "2100-01-01T00:00:00.000Z")
    const before = await print("credits", "balance", ...account())
    assert.match(
      before,
      new RegExp(`^customer_id +${customer}\nunit +token\ndecimals +0\navailable +150\nheld +0\ndebt +0\n`),
    )

    const grants = await print("credits", "grants", ...account())
    assert.match(grants, /^ID +CUSTOMER ID +UNIT +KIND +STATUS +AMOUNT +AVAILABLE +HELD +SCOPE +EXPIRES AT\n/)
    assert.match(grants, /token +paid +active +50 +50 +0 +- +2100-01-01/)
    const id = String(expiring["id"])
    assert.match(await print("credits", "get", id), /^available +50$/m)
    assert.match(
      await refusal("credits", "void", id),
      /^billwright: this would take back what is left of the grant for good: cgr_\w+\. Add --yes to do it\n$/,
    )
    assert.deepInclude(await json("credits", "void", id, "--yes"), { status: "voided", available: 0 })
    const entries = await print("credits", "entries", "--grant", id)
    assert.match(
      entries,
      /^ID +AT +CUSTOMER ID +UNIT +KIND +PURPOSE +AVAILABLE +SCOPED +HELD +DEBT +GRANT ID\n/,
    )
    assert.match(entries, /token +void +- +-50 +0 +0 +0 +cgr_/)
    assert.match(entries, /token +grant +- +50 +0 +0 +0 +cgr_/)
  })

  it("grant and show what is for some things alone", { timeout: TIMEOUT }, async () => {
    const owner = await idOf("customers", "create", "--name", "Grace", "--email", "grace@example.com")
    const of = ["--customer", owner, "--unit", "image"]
    const terms = ["--kind", "promotional", "--amount", "30", "--scope", "images", "--scope", "videos"]
    assert.deepInclude(await json("credits", "grant", ...of, ...terms), { scope: ["images", "videos"] })
    assert.match(await print("credits", "grants", ...of), /promotional +active +30 +30 +0 +images,videos +-/)
    assert.match(await print("credits", "balance", ...of), /^available +0\n.*^scoped +30$/ms)
    const forVideos = await print("credits", "balance", ...of, "--purpose", "videos")
    assert.match(forVideos, /^purpose +videos\navailable +30\n.*^scoped +0$/ms)
  })

  it("show how many decimals a unit has", { timeout: TIMEOUT }, async () => {
    const coins = ["--customer", customer, "--unit", "coin"]
    await json("credits", "grant", ...coins, "--kind", "paid", "--amount", "150")
    assert.match(await print("credits", "balance", ...coins), /^decimals +2\navailable +150$/m)
  })

  it("show a hold, and give it back", { timeout: TIMEOUT }, async () => {
    const owner = await idOf("customers", "create", "--name", "Mary", "--email", "mary@example.com")
    const of = ["--customer", owner, "--unit", "token"]
    await json("credits", "grant", ...of, "--kind", "promotional", "--amount", "10")
    const body = { customer_id: owner, unit: "token", amount: 4 }
    const { body: hold } = await Cli.call(server.url, server.keys.test, "POST", "/v1/holds", body)
    const id = String((hold as { readonly id: unknown }).id)
    assert.match(await print("credits", "hold", id), /^status +open$/m)
    const holds = await print("credits", "holds", ...of)
    assert.match(
      holds,
      /^ID +CUSTOMER ID +UNIT +STATUS +AMOUNT +COMMITTED +PURPOSE +EXPIRES AT +SETTLED AT\n/,
    )
    assert.match(holds, new RegExp(`^${id} +${owner} +token +open +`, "m"))
    assert.match(await print("credits", "balance", ...of), /^available +6$/m)
    assert.match(await refusal("credits", "release", id), /Add --yes to do it\n$/)
    assert.deepInclude(await json("credits", "release", id, "--yes"), { status: "released" })
    assert.match(await print("credits", "balance", ...of), /^available +10$/m)
  })

  it("say what is wrong", { timeout: TIMEOUT }, async () => {
    assert.match(
      await refusal("credits", "balance", "--customer", customer, "--unit", "Token"),
      /^billwright: unit must be an ISO 4217 currency code such as EUR, or a unit of yours such as token: /,
    )
    assert.match(
      await refusal("credits", "grant", ...account(), "--kind", "paid", "--amount", "0"),
      /^billwright: amount must be an integer from 1 to 10\^30 \(400 /,
    )
    assert.match(
      await refusal("credits", "grant", ...account(), "--kind", "present", "--amount", "1"),
      /^billwright: Invalid value for flag --kind: "present".*\nRun "billwright credits grant --help" for help\.\n$/,
    )
    assert.match(await refusal("credits", "get", "cgr_1"), /\(404 not_found\)\n$/)
  })
})

describe("billwright spend-alerts", () => {
  it("creates, shows, lists and deletes them", { timeout: TIMEOUT }, async () => {
    const create = ["spend-alerts", "create", "--customer", customer, "--currency", "EUR"]
    const alert = await json(...create, "--amount", "10000")
    assert.deepInclude(alert, { amount: 10_000, repeat: "once", action: "notify", subscription_id: null })
    const subscription = await idOf(...subscribe())
    const other = await json(
      ...create,
      "--amount",
      "500",
      "--subscription",
      subscription,
      "--repeat",
      "multiples",
      "--action",
      "block",
    )
    assert.deepInclude(other, { subscription_id: subscription, repeat: "multiples", action: "block" })
    const id = String(alert["id"])
    const table = await print("spend-alerts", "list", "--customer", customer)
    assert.match(
      table,
      /^ID +CUSTOMER ID +SUBSCRIPTION ID +CURRENCY +AMOUNT +REPEAT +ACTION +FIRED AT +BLOCKED UNTIL\n/,
    )
    assert.match(table, new RegExp(`^${id} +${customer} +- +EUR +10000 +once +notify +- +-$`, "m"))
    assert.match(await print("spend-alerts", "get", id), /^amount +10000$/m)
    assert.match(await refusal("spend-alerts", "delete", id), /Add --yes to do it\n$/)
    assert.strictEqual(await print("spend-alerts", "delete", id, "--yes"), `${id} is deleted.\n`)
    assert.match(await refusal("spend-alerts", "get", id), /\(404 not_found\)\n$/)
    assert.match(
      await refusal(...create, "--amount", "0"),
      /^billwright: amount must be an integer from 1 to/,
    )
  })
})

describe("billwright audit-log", () => {
  it(
    "shows and exports who changed what",
    async () => {
      const created = await json("audit-log", "list", "--object", customer)
      const [record] = created["data"] as ReadonlyArray<Record<string, unknown>>
      assert.deepInclude(record, { action: "customer.created", object_id: customer, actor_type: "key" })
      const id = String(record!["id"])
      assert.match(await print("audit-log", "get", id), /^action +customer\.created$/m)
      assert.match(await print("audit-log", "list", "--action", "customer.created"), new RegExp(customer))
      const lines = (await print("audit-log", "export", "--actor", String(record!["actor_id"])))
        .trim()
        .split("\n")
      const exported = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepInclude(
        exported.find((one) => one["id"] === id),
        { object_id: customer },
      )
      assert.match(await refusal("audit-log", "list", "--since", "yesterday"), /created_after/)
    },
    TIMEOUT,
  )
})
