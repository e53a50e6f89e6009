import {
  Billing,
  type Collections,
  Customers,
  CurrentTenant,
  FakeProvider,
  generateKey,
  type Invoice,
  Invoices,
  type MakePdf,
  PayerLinks,
  PaymentMethods,
  Payments,
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
  test: Effect.Effect<A, E, Billing.Services | Collections | CurrentTenant>,
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

interface Link {
  readonly url: Redacted.Redacted<string>
}

const pathOf = ({ url }: Link): string => new URL(Redacted.value(url)).pathname

/** Requests of a path, as a browser sends them from our own page. */
const sender = Effect.map(PayerPages.make(), (answer) => (method: "GET" | "POST", path: string) => {
  const header = (name: string) => (name === "sec-fetch-site" ? "same-origin" : undefined)
  const request = { method, path: path.replace("/billing", ""), query: "", header, headers: () => ({}) }
  return answer({ ...request, body: Effect.succeed(new Uint8Array()) })
})

/** The page behind a link, and the text that a reader sees. */
const opener = Effect.map(sender, (send) =>
  Effect.fnUntraced(function* (link: Link) {
    const page = yield* send("GET", pathOf(link))
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

describe("a link to an invoice on the page of a customer", () => {
  const [older, newer] = [generateKey("older"), generateKey("newer")]
  const both = Redacted.make(`${Redacted.value(newer)},${Redacted.value(older)}`)

  /** The status of a page where only these keys are left. */
  const statusWith = (keys: Redacted.Redacted<string>, path: string) =>
    Effect.gen(function* () {
      return (yield* (yield* sender)("GET", path)).status
    }).pipe(Effect.provide(PayerLinks.layerWith({ ...pages, keys })))

  it.effect("is signed by the key of the page's link, and ends with it, also when another key signs", () =>
    on(
      { payerPages: { ...pages, keys: both } },
      Effect.gen(function* () {
        const { customerId } = yield* issued("UTC")
        const olderLinks = PayerLinks.layerWith({ ...pages, keys: older })
        const portal = yield* Effect.provide(
          Effect.flatMap(PayerLinks, (links) => links.portal(customerId)),
          olderLinks,
        )
        const { html } = yield* (yield* opener)(portal)
        const path = /href="(\/billing\/invoices\/[^"]+)"/.exec(html)?.[1] ?? ""
        assert.strictEqual(yield* statusWith(both, path), 200)
        assert.strictEqual(yield* statusWith(newer, pathOf(portal)), 404)
        assert.strictEqual(yield* statusWith(newer, path), 404)
      }),
    ),
  )
})

describe("a new card on the page of an invoice", () => {
  /** What the form for a new card comes to, once something was done with the invoice, and how many methods were begun. */
  const cardAfter = <E>(
    done: (id: Invoice.InvoiceId) => Effect.Effect<unknown, E, Billing.Services | CurrentTenant>,
    payments = new FakeProvider({ hasMethods: true }),
  ) =>
    on(
      { payments },
      Effect.gen(function* () {
        const { id } = yield* issued("UTC")
        const path = pathOf(yield* (yield* PayerLinks).invoice(id))
        const send = yield* sender
        yield* done(id)
        const { headers, status } = yield* send("POST", `${path}/card`)
        const { data } = yield* (yield* PaymentMethods).list({})
        return { status, toPage: headers["location"] === path, methods: data.length }
      }),
    )

  it.effect("is begun while the invoice can be paid", () =>
    Effect.gen(function* () {
      const begun = { status: 200, toPage: false, methods: 1 }
      assert.deepStrictEqual(yield* cardAfter(() => Effect.void), begun)
    }),
  )

  it.effect("is not begun when the invoice is paid or void: the payer is shown how it stands", () =>
    Effect.gen(function* () {
      const shown = { status: 303, toPage: true, methods: 0 }
      const paid = (invoiceId: Invoice.InvoiceId) =>
        Effect.flatMap(Payments, (payments) => payments.record({ invoiceId }))
      assert.deepStrictEqual(yield* cardAfter(paid), shown)
      assert.deepStrictEqual(
        yield* cardAfter((id) => Effect.flatMap(Invoices, (invoices) => invoices.void(id))),
        shown,
      )
    }),
  )

  it.effect("is not begun with a provider that saves none", () =>
    Effect.gen(function* () {
      const refused = { status: 409, toPage: false, methods: 0 }
      assert.deepStrictEqual(yield* cardAfter(() => Effect.void, new FakeProvider()), refused)
    }),
  )
})
