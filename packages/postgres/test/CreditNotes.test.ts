/**
 * Credit notes on Postgres: at once, and what it refuses by itself, also in plain SQL of the owner of the tables.
 */
import { Billing, CreditNotes, type CurrentTenant } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { advanceTo, allInvoices, START, subscribe, use } from "./Invoicing.ts"
import { type Attempt, refusalOf, tried } from "./Refusals.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const CHECK = "23514"
const FINAL = "23001"
const UNIQUE = "23505"
const KEY = "23503"

/** Two issued invoices, of 20.00, and of 31.00 with 11.00 for usage. */
const world = Effect.gen(function* () {
  yield* TestClock.setTime(START.epochMilliseconds)
  const { customer } = yield* subscribe
  yield* use(customer, 1_500)
  yield* advanceTo(DateTime.add(START, { months: 1, hours: 2 }).epochMilliseconds)
  return yield* allInvoices
})

/** Runs a test over a database of its own, and a connection of `pg` to it. */
const withDatabase = <A, E>(
  test: (client: Client) => Effect.Effect<A, E, Billing.Services | CurrentTenant>,
) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    const client = new Client({ connectionString: url })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect()),
      () => Effect.promise(() => client.end()),
    )
    return yield* test(client).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services))
  }).pipe(Effect.scoped)

it.live(
  "credit notes of one invoice at once never give back more than it has, and their numbers have no gap",
  () =>
    withDatabase(() =>
      Effect.gen(function* () {
        const [first] = yield* world
        const { create, list } = yield* CreditNotes
        const note = create({ invoiceId: first!.id, amount: 600n, reason: "other" })
        const exits = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.exit(note)),
          {
            concurrency: "unbounded",
          },
        )
        assert.lengthOf(exits.filter(Exit.isSuccess), 3)
        const notes = (yield* list()).data.toReversed()
        assert.deepStrictEqual(notes.map(({ number }) => number).sort(), [
          "CN-2026-0001",
          "CN-2026-0002",
          "CN-2026-0003",
        ])
        const [after] = yield* allInvoices
        assert.deepStrictEqual([after?.amountCredited, after?.amountDue], [1_800n, 200n])
      }),
    ),
)

const notes = "billwright.billing_credit_notes"
const lines = "billwright.billing_credit_note_lines"
const invoices = "billwright.billing_invoices"
const series = "billwright.billing_series"
const OWNER = "account_id, mode, customer_id"

/** A copy of the credit note as the next number, with other fields, and its line with other fields. */
const second = (
  fields: Readonly<Record<string, unknown>> = {},
  line: Readonly<Record<string, unknown>> = {},
  count = 1,
): ReadonlyArray<string> => {
  const state = JSON.stringify({ number: "CN-2026-0002", ...fields })
  const stated = JSON.stringify(line)
  const id = `'01900000-0000-7000-8000-000000000001'::uuid`
  return [
    `update ${series} set state = state || '{"last": 2}' where name = 'credit_note'`,
    `insert into ${notes} (${OWNER}, id, invoice_id, state, line_count, lines_bytes, created_at)
select ${OWNER}, ${id}, invoice_id, state || '${state}', ${count}, lines_bytes, created_at from ${notes}`,
    `insert into ${lines} (${OWNER}, credit_note_id, invoice_id, position, line_id, amount, line)
select ${OWNER}, ${id}, invoice_id, position, new.line ->> 'lineId', (new.line ->> 'amount')::numeric, new.line
from ${lines} cross join lateral (select line || '${stated}' as line) as new`,
  ]
}

const credited = (amount: number, fields: Readonly<Record<string, unknown>> = {}): string =>
  `update ${invoices} set state = state || '${JSON.stringify({
    amountCredited: String(amount),
    amountWaived: String(amount),
    amountDue: String(2_000 - amount),
    sequence: 9,
    ...fields,
  })}' where number = '2026-0001'`

/** The invoice is paid, and the next note refunds a part of that. */
const refunded = [
  `insert into billwright.billing_payments (${OWNER}, id, invoice_id, currency, provider, status, amount, applied, overpaid,
  paid_at, sequence, created_at, updated_at)
select ${OWNER}, '01900000-0000-7000-8000-000000000002', id, currency, 'manual', 'succeeded', 1400, 1400, 0, now(), 1, now(), now()
from ${invoices} where number = '2026-0001'`,
  ...second({ waived: "0", refund: "600" }),
  credited(1_200, { amountPaid: "1400", amountWaived: "600", amountDue: "0", status: "paid" }),
]

/** Afterwards less is paid than was refunded. */
const lessPaid = [
  ...refunded,
  "set constraints all immediate",
  "set constraints all deferred",
  credited(1_200, { amountPaid: "500", amountWaived: "600", amountDue: "900", status: "open" }),
]

const ATTEMPTS: ReadonlyArray<Attempt> = [
  ["the next note", undefined, [...second(), credited(1_200)]],
  ["a note that the invoice does not know", CHECK, second()],
  ["an invoice that says more than its notes", CHECK, [credited(1_200)]],
  [
    "an invoice that waived more than its notes",
    CHECK,
    [credited(600, { amountWaived: "700", amountDue: "1300" })],
  ],
  ["a total that is not net and tax", CHECK, [...second({ net: "599" }), credited(1_200)]],
  ["a total that is not waived, refunded and credited", CHECK, [...second({ waived: "1" }), credited(601)]],
  [
    "a tax that is not that of the rate",
    CHECK,
    [
      ...second({
        tax: "1",
        total: "601",
        waived: "601",
        taxes: [{ category: "O", rate: "0", country: null, reason: null, taxable: "600", amount: "1" }],
      }),
      credited(1_201),
    ],
  ],
  [
    "more than a line",
    CHECK,
    [
      ...second(
        {
          net: "1500",
          total: "1500",
          waived: "1400",
          toBalance: "100",
          taxes: [{ category: "O", rate: "0", country: null, reason: null, taxable: "1500", amount: "0" }],
        },
        { amount: "1500" },
      ),
      credited(2_100, { amountWaived: "2000", amountDue: "0", status: "paid" }),
    ],
  ],
  [
    "a refund of what was not paid",
    CHECK,
    [...second({ waived: "0", refund: "600" }), credited(1_200, { amountWaived: "600", amountDue: "1400" })],
  ],
  ["a refund of what was paid", undefined, refunded],
  ["a line that is not the note", CHECK, [...second({}, { amount: "500" }), credited(1_200)]],
  ["a line of another invoice", CHECK, [...second({}, { lineId: "nothing" }), credited(1_200)]],
  ["a note without one of its lines", CHECK, [...second({}, {}, 2), credited(1_200)]],
  ["a note without lines", CHECK, [...second().slice(0, 2), credited(1_200)]],
  [
    "a note of no lines",
    CHECK,
    [...second({ net: "0", total: "0", waived: "0", taxes: [] }, {}, 0).slice(0, 2), credited(600)],
  ],
  ["a currency that is not the invoice's", CHECK, [...second({ currency: "USD" }), credited(1_200)]],
  ["a number that is taken", UNIQUE, [...second({ number: "CN-2026-0001" }), credited(1_200)]],
  ["a number that was not taken yet", CHECK, [...second({ number: "CN-2026-0003" }), credited(1_200)]],
  ["a number of another format", CHECK, [...second({ number: "2026-0002" }), credited(1_200)]],
  ["a note without a number of the series", CHECK, [...second().slice(1), credited(1_200)]],
  ["a number without a note", CHECK, second().slice(0, 1)],
  ["an instant before the note before", CHECK, [...second({ issuedAt: 5 }), credited(1_200)]],
  [
    "an invoice that there is not",
    KEY,
    [
      `update ${series} set state = state || '{"last": 2}' where name = 'credit_note'`,
      `insert into ${notes} (${OWNER}, id, invoice_id, state, line_count, lines_bytes, created_at)
select ${OWNER}, gen_random_uuid(), gen_random_uuid(), state || '{"number": "CN-2026-0002"}', 1, 2, created_at from ${notes}`,
    ],
  ],
  ["a change of a note", FINAL, [`update ${notes} set state = state || '{"reason": "other"}'`]],
  ["a removal of a note", FINAL, [`delete from ${notes}`]],
  ["a removal of all notes", FINAL, [`truncate ${notes} cascade`]],
  ["a change of a line", FINAL, [`update ${lines} set position = 1`]],
  ["a removal of a line", FINAL, [`delete from ${lines}`]],
]

it.live("Postgres refuses wrong sums, gaps and changes of credit notes", () =>
  withDatabase((client) =>
    Effect.gen(function* () {
      const [first] = yield* world
      const { create } = yield* CreditNotes
      yield* create({ invoiceId: first!.id, amount: 600n, reason: "order_change" })
      assert.deepStrictEqual(yield* Effect.promise(() => tried(client, ATTEMPTS)), ATTEMPTS)
      // The sums of payments are wrong, too. So the code alone does not say which rule refused it.
      const refusal = yield* Effect.promise(() => refusalOf(client, lessPaid))
      assert.strictEqual(refusal?.constraint, "billing_credit_notes_sums")
    }),
  ),
)
