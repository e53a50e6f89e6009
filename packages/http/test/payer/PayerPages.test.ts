import {
  Billing,
  Customers,
  CurrentTenant,
  generateKey,
  Invoices,
  type MakePdf,
  PayerLinks,
  Plans,
  Subscriptions,
  Tenant,
} from "@billwright/core"
import { PayerPages } from "@billwright/http/payer"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"

const NOW = "2026-11-21T09:30:00.000Z"
const tenant: Tenant.Tenant = { accountId: Tenant.AccountId.make("default"), mode: "test" }
const pages = { url: "https://shop.example/billing", keys: generateKey("k1") }

const logs: Array<string> = []
const logger = Logger.map(Logger.formatJson, (line) => void logs.push(line))

/** Runs a test on services of its own, at `NOW`. */
const on = <A, E>(
  billing: Billing.BillingOptions,
  test: Effect.Effect<A, E, Billing.Services | CurrentTenant>,
) =>
  // Before the services begin: what they do every minute would be done for all years since 1970.
  TestClock.setTime(DateTime.makeUnsafe(NOW).epochMilliseconds).pipe(
    Effect.andThen(Effect.sync(() => void logs.splice(0))),
    Effect.andThen(
      test.pipe(
        Effect.provideService(CurrentTenant, tenant),
        Effect.provide(
          Billing.layerWith({ payerPages: pages, ...billing }).pipe(
            Layer.provideMerge(Memory.layer),
            Layer.merge(Logger.layer([logger])),
          ),
        ),
      ),
    ),
  )

/** The page behind a link, and the text that a reader sees. */
const opener = Effect.map(PayerPages.make(), (answer) =>
  Effect.fnUntraced(function* ({ url }: { readonly url: Redacted.Redacted<string> }) {
    const path = new URL(Redacted.value(url)).pathname.replace("/billing", "")
    const header = () => undefined
    const request = { method: "GET", path, query: "", header, headers: () => ({}) }
    const page = yield* answer({ ...request, body: Effect.succeed(new Uint8Array()) })
    const text = page.body.replaceAll(/<style>[^]*?<\/style>|<[^>]*>/g, " ").replaceAll(/\s+/g, " ")
    return { status: page.status, html: page.body, text }
  }),
)

/** An invoice of a workshop that was issued. */
const issued = Effect.fnUntraced(function* (timezone: string) {
  const customers = yield* Customers
  const invoices = yield* Invoices
  const customer = yield* customers.create({
    name: "Ada",
    email: "ada@example.com",
    currency: "EUR",
    collectionMethod: "send_invoice",
    timezone,
  })
  const lines = [{ description: "Workshop", amount: 90_000n }]
  const draft = yield* invoices.create({ customerId: customer.id, lines })
  return yield* invoices.finalize(draft.id)
})

describe("the page of an invoice", () => {
  it.effect(
    "names the last day to pay of the customer, as the document below does, also of one who was erased",
    () =>
      on(
        { invoices: { timezone: "UTC" } },
        Effect.gen(function* () {
          const invoice = yield* issued("America/New_York")
          const link = yield* (yield* PayerLinks).invoice(invoice.id)
          const open = yield* opener
          const { text } = yield* open(link)
          assert.include(text, "Please pay by December 5, 2026.")
          assert.notInclude(text, "December 6")
          yield* (yield* Customers).erase(invoice.customerId)
          assert.include((yield* open(link)).text, "Please pay by December 5, 2026.")
        }),
      ),
  )

  it.effect("comes without its PDF while none can be made, and with it afterwards", () => {
    let isBroken = true
    const pdf: MakePdf = () =>
      isBroken ? Promise.reject(new Error("Unknown image format")) : Promise.resolve(new Uint8Array([37]))
    return on(
      { pdf },
      Effect.gen(function* () {
        const link = yield* (yield* PayerLinks).invoice((yield* issued("UTC")).id)
        const open = yield* opener
        for (let visited = 0; visited < 3; visited++) {
          const { html, status, text } = yield* open(link)
          assert.strictEqual(status, 200)
          assert.include(text, "Workshop")
          assert.notInclude(html, "/pdf")
        }
        assert.lengthOf(logs, 1)
        assert.include(logs[0], "Unknown image format")
        isBroken = false
        yield* TestClock.adjust("1 minute")
        assert.include((yield* open(link)).html, "/pdf")
        assert.include(logs[1], "PDF can be made again")
      }),
    )
  })

  it.effect("has no PDF and no line of the log where nothing makes PDF", () =>
    on(
      {},
      Effect.gen(function* () {
        const link = yield* (yield* PayerLinks).invoice((yield* issued("UTC")).id)
        assert.notInclude((yield* (yield* opener)(link)).html, "/pdf")
        assert.isEmpty(logs)
      }),
    ),
  )
})

describe("the next invoice on the page of a customer", () => {
  const plan = {
    key: "pro",
    name: "Pro",
    currencies: ["EUR"],
    interval: { unit: "month", count: 1 },
    charges: [{ key: "base", name: "Base", model: "flat", price: { EUR: "49" } }],
  } as const

  /** What the page says of the next invoice of a subscription that is canceled at an instant. */
  const canceledAt = (at: string) =>
    on(
      {},
      Effect.gen(function* () {
        yield* (yield* Plans).push({ plans: [plan] })
        const customers = yield* Customers
        const { id: customerId } = yield* customers.create({ name: "Ada", email: "ada@example.com" })
        const subscriptions = yield* Subscriptions
        const { id } = yield* subscriptions.create({ customerId, plan: "pro", currency: "EUR" })
        yield* subscriptions.cancel(id, { at: DateTime.makeUnsafe(at) })
        const { text } = yield* (yield* opener)(yield* (yield* PayerLinks).portal(customerId))
        return { ends: /Ends on (.*?, \d+)/.exec(text)?.[1], next: /On (\w+ \d+, \d+): /.exec(text)?.[1] }
      }),
    )

  it.effect("comes at the end of the period, if the subscription ends in a later one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* canceledAt("2027-03-21T09:30:00Z"), {
        ends: "March 21, 2027",
        next: "December 21, 2026",
      })
    }),
  )

  it.effect("comes at the end of the subscription, if that is within the period", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* canceledAt("2026-12-01T09:30:00Z"), {
        ends: "December 1, 2026",
        next: "December 1, 2026",
      })
    }),
  )
})
