/**
 * What Postgres refuses about invoices by itself, also in plain SQL of the owner of the tables.
 */
import { Billing } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { afterAll, beforeAll } from "vitest"
import { advanceTo, allInvoices, START, subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const CHECK = "23514"
const FINAL = "23001"
const UNIQUE = "23505"
const KEY = "23503"

const SCHEMA = "billwright"
const invoices = `${SCHEMA}.billing_invoices`
const lines = `${SCHEMA}.billing_invoice_lines`
const series = `${SCHEMA}.billing_series`

/** Two issued invoices of one subscription, 2026-0001 and 2026-0002, and a draft with two lines. */
const world = Effect.gen(function* () {
  yield* TestClock.setTime(START.epochMilliseconds)
  const { customer } = yield* subscribe
  yield* use(customer, 1_500)
  yield* advanceTo(DateTime.add(START, { months: 1, hours: 2 }).epochMilliseconds)
  yield* use(customer, 7)
  yield* advanceTo(DateTime.add(START, { months: 2 }).epochMilliseconds)
  return yield* allInvoices
}).pipe(asTenant, Effect.provide(TestClock.layer()))

describe("Postgres refuses", () => {
  let client: Client
  let close: () => Promise<void>

  beforeAll(async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const { promise: url, resolve: made } = Promise.withResolvers<string>()
    const database = Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const own = yield* TestDatabase.make
          const services = Billing.layer.pipe(
            Layer.provideMerge(Storage.layer()),
            Layer.provide(PostgresClient.layer({ url: Redacted.make(own) })),
          )
          const found = yield* Effect.provide(world, services)
          assert.deepStrictEqual(
            found.map(({ number, status }) => [number, status]),
            [
              ["2026-0001", "open"],
              ["2026-0002", "open"],
              [null, "draft"],
            ],
          )
          made(own)
          yield* Effect.promise(() => ended)
        }),
      ),
    )
    client = new Client({ connectionString: await Promise.race([url, database.then(() => "")]) })
    await client.connect()
    close = async () => {
      await client.end()
      resolve()
      await database
    }
  }, 60_000)

  afterAll(() => close())

  /** Commits statements as one transaction. The SQLSTATE of the refusal, `undefined` if there was none. */
  const committed = async (...statements: ReadonlyArray<string>): Promise<string | undefined> => {
    try {
      await client.query(["begin", ...statements, "commit"].join(";\n"))
      return undefined
    } catch (error) {
      await client.query("rollback")
      return (error as { readonly code?: string }).code
    }
  }

  /** The same without keeping anything: deferred constraints are checked at once, before the rollback. */
  const allowed = async (...statements: ReadonlyArray<string>): Promise<string | undefined> => {
    try {
      await client.query(["begin", ...statements, "set constraints all immediate", "rollback"].join(";\n"))
      return undefined
    } catch (error) {
      await client.query("rollback")
      return (error as { readonly code?: string; readonly message: string }).message
    }
  }

  const everything = async () => {
    const all = []
    for (const table of [invoices, lines, series]) {
      all.push((await client.query(`select t::text from ${table} t order by 1`)).rows)
    }
    return all
  }

  const refused = (title: string, code: string, statements: ReadonlyArray<string>) =>
    it(title, async () => {
      const before = await everything()
      assert.strictEqual(await committed(...statements), code)
      assert.deepStrictEqual(await everything(), before)
    })

  const accepted = (title: string, statements: ReadonlyArray<string>) =>
    it(title, async () => {
      assert.strictEqual(await allowed(...statements), undefined)
    })

  const changed = (where: string, path: string, value: string): string =>
    `update ${invoices} set state = jsonb_set(state, '{${path}}', '${value}') where ${where}`
  const paid = (where: string, amount: number): string =>
    `insert into ${SCHEMA}.billing_payments (account_id, mode, customer_id, id, invoice_id, currency, provider, status,
  amount, applied, overpaid, paid_at, sequence, created_at, updated_at)
select account_id, mode, customer_id, gen_random_uuid(), id, currency, 'manual', 'succeeded', ${amount}, ${amount}, 0,
  now(), 1, now(), now() from ${invoices} where ${where}`
  const merged = (where: string, fields: Readonly<Record<string, unknown>>): string =>
    `update ${invoices} set state = state || '${JSON.stringify(fields)}' where ${where}`
  const DRAFT = "status = 'draft'"
  const FIRST = "number = '2026-0001'"
  const ofInvoice = (where: string): string =>
    `invoice_id = (select i.id from ${invoices} i where i.${where})`

  /** Copies of rows, with other values in some columns. */
  const copied = (
    table: string,
    where: string,
    columns: ReadonlyArray<string>,
    changes: Readonly<Record<string, string>>,
  ): string =>
    `insert into ${table} (${columns.join(", ")}) select ${columns.map((name) => changes[name] ?? name).join(", ")} from ${table} where ${where}`
  const OWNER = ["account_id", "mode", "customer_id", "subscription_id"]
  const LINE = [...OWNER, "invoice_id", "position", "line"]
  const SUBSCRIPTION = [
    "account_id",
    "mode",
    "customer_id",
    "id",
    "state",
    "metadata",
    "created_at",
    "updated_at",
  ]
  const INVOICE = [...OWNER, "id", "cause", "state", "lines_bytes", "created_at", "updated_at"]

  const NEXT = DateTime.add(START, { months: 3 }).epochMilliseconds
  const issued = (number: string, issuedAt = NEXT) =>
    merged(DRAFT, { status: "open", number, issuedAt, dueAt: issuedAt })
  const taken = (fields: Readonly<Record<string, unknown>>): string =>
    `update ${series} set state = state || '${JSON.stringify({ lastIssuedAt: NEXT, ...fields })}'`

  /** A second draft, without a cause. */
  const OTHER = "'00000000-0000-7000-8000-000000000009'"
  const other = (changes: Readonly<Record<string, string>> = {}) => [
    copied(invoices, DRAFT, INVOICE, { id: OTHER, cause: "null", ...changes }),
    copied(lines, ofInvoice(`${DRAFT} and id <> ${OTHER}`), LINE, { invoice_id: OTHER, ...changes }),
  ]
  /** Issues both drafts with one statement. */
  const bothIssued = (number: string, otherNumber: string, otherAt = NEXT): string => {
    const fields = (of: string, at: number) =>
      `'${JSON.stringify({ status: "open", number: of, issuedAt: at, dueAt: at })}'::jsonb`
    return `update ${invoices} set state = state || case id when ${OTHER} then ${fields(otherNumber, otherAt)}
else ${fields(number, NEXT)} end where ${DRAFT}`
  }

  /** A line of an item. */
  const ITEM = `line || '{"id": "itm_1", "kind": "item"}'`

  describe("wrong sums", () => {
    /** Of a draft at commit, and of an invoice that is issued at once, also next to one that is right. */
    const wrong = (title: string, statements: ReadonlyArray<string>) => {
      refused(title, CHECK, statements)
      refused(`${title}, of an issued invoice`, CHECK, [
        ...statements,
        taken({ last: 3 }),
        issued("2026-0003"),
      ])
      refused(`${title}, of one of two issued invoices`, CHECK, [
        ...other(),
        ...statements.map((text) => text.replaceAll(DRAFT, `${DRAFT} and id <> ${OTHER}`)),
        taken({ last: 4 }),
        bothIssued("2026-0003", "2026-0004"),
      ])
    }
    wrong("a subtotal", [changed(DRAFT, "subtotal", '"1"')])
    wrong("a total", [changed(DRAFT, "total", '"1"')])
    wrong("a tax", [changed(DRAFT, "tax", '"1"')])
    wrong("an amount due", [changed(DRAFT, "amountDue", '"1"')])
    wrong("a tax that is not that of its rate", [
      changed(DRAFT, "taxes,0,amount", '"1"'),
      `update ${invoices} set state = state || '{"tax": "1", "total": "2008", "amountDue": "2008"}' where ${DRAFT}`,
    ])
    wrong("an amount that is not that of the lines of its rate", [changed(DRAFT, "taxes,0,taxable", '"1"')])
    wrong("a rate that no line has", [changed(DRAFT, "taxes,0,category", '"Z"')])
    wrong("a rate twice", [
      `update ${invoices} set state = jsonb_set(state, '{taxes,1}', state -> 'taxes' -> 0) where ${DRAFT}`,
    ])
    wrong("a discount that no line has", [
      changed(DRAFT, "discounts", '[{"amount": "1", "parts": [{"lineId": "x", "amount": "1"}]}]'),
    ])
    wrong("a discount that is not the sum of its parts", [
      changed(DRAFT, "discounts", '[{"amount": "1", "parts": []}]'),
    ])
    wrong("credit that is not what the total is below 0", [changed(DRAFT, "credited", '"1"')])
    wrong("a line more", [
      copied(lines, `${ofInvoice(DRAFT)} and position = 0`, LINE, {
        position: "9",
        line: `jsonb_set(line, '{id}', '"x"')`,
      }),
    ])
    wrong("a line less", [`delete from ${lines} where ${ofInvoice(DRAFT)} and position = 0`])
    wrong("no lines", [
      `delete from ${lines} where ${ofInvoice(DRAFT)}`,
      merged(DRAFT, { subtotal: "0", total: "0", amountDue: "0", taxes: [] }),
    ])
    refused("an item on a second invoice", UNIQUE, [
      copied(lines, `${ofInvoice(DRAFT)} and position = 0`, LINE, { position: "9", line: ITEM }),
      copied(lines, `${ofInvoice(DRAFT)} and position = 9`, LINE, { invoice_id: "gen_random_uuid()" }),
    ])
    refused("lines without an invoice", KEY, [
      copied(lines, ofInvoice(DRAFT), LINE, { invoice_id: "gen_random_uuid()" }),
    ])
    refused("a payment that does not lower the amount due", CHECK, [changed(FIRST, "amountPaid", '"500"')])
    refused("paid, with something due", CHECK, [changed(FIRST, "status", '"paid"')])
    accepted("(not) sums that are wrong in between", [
      changed(DRAFT, "subtotal", '"1"'),
      changed(DRAFT, "subtotal", '"2007"'),
    ])
    accepted("(not) an invoice with tax and a discount", [
      `delete from ${lines} where ${ofInvoice(DRAFT)} and position = 0`,
      copied(lines, ofInvoice(DRAFT), LINE, {
        position: "0",
        line: `line || '{"id": "x", "amount": "105", "discount": "5", "net": "84",
          "tax": {"category": "S", "rate": "19", "country": "DE", "reason": null}}'`,
      }),
      merged(DRAFT, {
        taxBehavior: "inclusive",
        subtotal: "2105",
        tax: "16",
        total: "2100",
        amountDue: "2100",
        discounts: [{ amount: "5", parts: [{ lineId: "x", amount: "5" }] }],
        taxes: [
          { category: "O", rate: "0", country: null, taxable: "2000", amount: "0" },
          { category: "S", rate: "19.0", country: "DE", taxable: "84", amount: "16" },
        ],
      }),
    ])
  })

  describe("a change of an issued invoice", () => {
    for (const [path, value] of [
      ["number", '"2026-0003"'],
      ["issuedAt", "0"],
      ["dueAt", "0"],
      ["total", '"1"'],
      ["currency", '"USD"'],
      ["periodStart", "0"],
      ["steps", "[]"],
      ["taxes,0,reason", '"none"'],
    ] as const) {
      refused(`its ${path}`, FINAL, [changed(FIRST, path, value)])
    }
    refused("back to a draft", FINAL, [merged(FIRST, { status: "draft", number: null, issuedAt: null })])
    refused("what it was taxed by", FINAL, [`update ${invoices} set taxed_by = '{}' where ${FIRST}`])
    refused("its cause", FINAL, [`update ${invoices} set cause = null where ${FIRST}`])
    refused("its subscription", FINAL, [
      `update ${invoices} set subscription_id = null, cause = null where ${FIRST}`,
    ])
    refused("its customer", FINAL, [`update ${invoices} set customer_id = gen_random_uuid() where ${FIRST}`])
    refused("its id", FINAL, [`update ${invoices} set id = gen_random_uuid() where ${FIRST}`])
    refused("its removal", FINAL, [`delete from ${invoices} where ${FIRST}`])
    refused("its removal by a merge", FINAL, [
      `merge into ${invoices} i using (select 1) as one on i.${FIRST} when matched then delete`,
    ])
    refused("the removal of all", FINAL, [`truncate ${invoices} cascade`])
    refused("a change of its lines", FINAL, [
      `update ${lines} set position = position + 5 where ${ofInvoice(FIRST)}`,
    ])
    refused("the removal of its lines", FINAL, [`delete from ${lines} where ${ofInvoice(FIRST)}`])
    refused("another line", FINAL, [
      copied(lines, ofInvoice(FIRST), LINE, { position: "9", line: `jsonb_set(line, '{id}', '"x"')` }),
    ])
    refused("its lines for those of another invoice", FINAL, [
      `delete from ${lines} where ${ofInvoice(FIRST)}`,
      copied(lines, `${ofInvoice(DRAFT)} and kind = 'advance'`, LINE, {
        invoice_id: `(select id from ${invoices} where ${FIRST})`,
      }),
    ])
    refused("a line moved to a draft", FINAL, [
      `update ${lines} set invoice_id = (select id from ${invoices} where ${DRAFT}) where ${ofInvoice(FIRST)}`,
    ])
    refused("the removal of all lines", FINAL, [`truncate ${lines}`])
    accepted("(not) a payment", [
      merged(FIRST, { amountPaid: "500", amountDue: "1500", sequence: 9 }),
      paid(FIRST, 500),
      merged(FIRST, { amountPaid: "2000", amountDue: "0", status: "paid", collection: "paid" }),
      paid(FIRST, 1500),
    ])
    accepted("(not) a void", [merged(FIRST, { status: "void", amountDue: "0", availableActions: [] })])
    accepted("(not) other lines of a draft", [
      `create temporary table kept on commit drop as select * from ${lines} where ${ofInvoice(DRAFT)}`,
      `delete from ${lines} where ${ofInvoice(DRAFT)}`,
      `insert into ${lines} (${LINE.join(", ")}) select ${LINE.join(", ")} from kept`,
    ])
  })

  describe("a gap in the numbers", () => {
    refused("a number that nobody took", CHECK, [issued("2026-0003")])
    refused("a number after a gap", CHECK, [taken({ last: 4 }), issued("2026-0004")])
    refused("a number beyond the last one taken", CHECK, [taken({ last: 3 }), issued("2026-0004")])
    refused("a number that was taken and not used", CHECK, [taken({ last: 3 })])
    refused("the number of another invoice", UNIQUE, [taken({ last: 3 }), issued("2026-0002")])
    refused("a number in another format", CHECK, [taken({ last: 3 }), issued("2026-3")])
    refused("a number with more zeros", CHECK, [taken({ last: 3 }), issued("2026-00003")])
    refused("a number of a later year", CHECK, [taken({ last: 3 }), issued("2027-0001")])
    refused("an instant before that of the number before", CHECK, [
      taken({ last: 3 }),
      issued("2026-0003", START.epochMilliseconds),
    ])
    refused("a number that is taken only after the invoice is issued", CHECK, [
      issued("2026-0003"),
      taken({ last: 3 }),
    ])
    refused("of two at once, the greater number at the earlier instant", CHECK, [
      ...other(),
      taken({ last: 4 }),
      bothIssued("2026-0003", "2026-0004", NEXT - 1),
    ])
    refused("of two at once, a number in another format", CHECK, [
      ...other(),
      taken({ last: 4 }),
      bothIssued("2026-0003", "2026-4"),
    ])
    accepted("(not) two at once", [...other(), taken({ last: 4 }), bothIssued("2026-0004", "2026-0003")])
    refused("an instant after that of the series", CHECK, [taken({ last: 3 }), issued("2026-0003", NEXT + 1)])
    refused("an invoice with a number that is not issued", CHECK, [changed(DRAFT, "number", '"2026-0003"')])
    refused("an issued invoice without a number", CHECK, [merged(DRAFT, { status: "open", issuedAt: NEXT })])
    refused("a series that goes back", FINAL, [taken({ last: 1 })])
    refused("a series whose instant goes back", FINAL, [taken({ lastIssuedAt: 0 })])
    refused("a series whose year goes back", FINAL, [taken({ year: 2025 })])
    refused("a series that counts an invoice that is not there", FINAL, [
      `update ${series} set issued = issued + 1, state = state || '{"last": 3}'`,
    ])
    refused("a series whose count of numbers is set", CHECK, [
      `update ${series} set taken = taken, state = state || '{"last": 3}'`,
    ])
    refused("the removal of a series", FINAL, [`delete from ${series}`])
    refused("the removal of all series", FINAL, [`truncate ${series}`])
    accepted("(not) the next number", [taken({ last: 3 }), issued("2026-0003")])
    accepted("(not) the first number of the next year", [taken({ last: 1, year: 2027 }), issued("2027-0001")])
  })

  describe("a reference to somebody else", () => {
    refused("an invoice of a subscription that there is not", KEY, other({ subscription_id: OTHER }))
    refused("an invoice of a subscription of another customer", KEY, other({ customer_id: OTHER }))
    refused("an invoice of a subscription of another account", KEY, other({ account_id: "'other'" }))
    refused("an invoice of a subscription of the other mode", KEY, other({ mode: "'test'" }))
    refused("a subscription of a customer that there is not", KEY, [
      copied(`${SCHEMA}.billing_subscriptions`, "true", SUBSCRIPTION, { id: OTHER, customer_id: OTHER }),
    ])
    refused("a subscription of a customer of the other mode", KEY, [
      copied(`${SCHEMA}.billing_subscriptions`, "true", SUBSCRIPTION, { id: OTHER, mode: "'test'" }),
    ])
    accepted("(not) another invoice of the subscription", other())
  })

  describe("what was not paid, as paid", () => {
    refused("by an amount that no credit note waives", CHECK, [
      merged(FIRST, { amountWaived: "2000", amountDue: "0", status: "paid" }),
    ])
    refused("by an amount that no credit note credits", CHECK, [
      merged(FIRST, { amountCredited: "2000", amountWaived: "2000", amountDue: "0", status: "paid" }),
    ])
    refused("by a payment below 0", CHECK, [merged(FIRST, { amountPaid: "-1", amountDue: "2001" })])
    refused("by a void invoice with something due", CHECK, [merged(FIRST, { status: "void" })])
  })

  describe("a second invoice", () => {
    refused("for the same period and segment", UNIQUE, [
      copied(invoices, DRAFT, INVOICE, { id: "gen_random_uuid()" }),
    ])
    refused("of the same id", UNIQUE, [copied(invoices, DRAFT, INVOICE, { cause: "null" })])
    refused("whose cause is not a period of a subscription", CHECK, [
      `update ${invoices} set cause = '{}' where ${DRAFT}`,
    ])
    accepted("(not) for another segment", [
      copied(invoices, DRAFT, INVOICE, {
        id: "'00000000-0000-7000-8000-000000000001'",
        cause: `jsonb_set(cause, '{segment}', '7')`,
      }),
      copied(lines, ofInvoice("cause_segment <> 7 and status = 'draft'"), LINE, {
        invoice_id: "'00000000-0000-7000-8000-000000000001'",
      }),
    ])
  })
})
