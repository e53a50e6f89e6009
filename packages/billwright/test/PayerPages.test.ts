/** Pages for payers: an invoice with the way to pay it, and what a customer has, by links without a login. */
import {
  ActionUnavailableError,
  type Billing,
  ConfigurationError,
  createBilling,
  CustomerNotFoundError,
  generateEncryptionKey,
  InvalidInputError,
  InvoiceNotFoundError,
  type PayerLinkOptions,
  type PayerPageHandlers,
  type PayerPageMount,
} from "billwright"
import { createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { createTestBilling, type FakePayments, fakePayments, type TestBilling } from "billwright/testing"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

/** The error of a class that a promise is rejected with. */
const refusal = async <E extends Error>(
  type: { readonly prototype: E },
  promise: PromiseLike<unknown>,
): Promise<E> => {
  const error = await rejection(promise)
  assert.isTrue(Object.prototype.isPrototypeOf.call(type.prototype, error), String(error))
  return error as E
}

const URL_OF_PAGES = "https://shop.example/pay"
const NOW = "2026-11-21T09:30:00Z"
const keys = [generateEncryptionKey("new"), generateEncryptionKey("old")]
const seller = { name: "Nordlicht <GmbH>", country: "DE" }
const HOSTILE = `</title><script>alert(1)</script>" onload='x' & ${"long".repeat(20)}`

const plan = {
  key: "pro",
  name: "Pro <b>",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", name: "Base fee", model: "flat", price: { EUR: "49" } },
    {
      key: "calls",
      name: "Calls",
      model: "graduated",
      meter: "calls",
      tiers: [{ up_to: "10", price: { EUR: "0" } }, { price: { EUR: "0.5" } }],
    },
  ],
} as const

let payments: FakePayments
let billing: TestBilling
let pages: PayerPageHandlers

const start = async (options: object = {}, mount: PayerPageMount = {}) => {
  payments = fakePayments()
  billing = await createTestBilling({
    now: NOW,
    payments,
    log: false,
    invoices: { seller, timezone: "Europe/Berlin" },
    payerPages: { url: URL_OF_PAGES, keys },
    ...options,
  })
  pages = billing.payerPages(mount)
}

beforeEach(() => start())
afterEach(() => billing.close())

interface Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The text that a reader sees. */
  readonly text: string
  /** The paths of its forms. */
  readonly forms: ReadonlyArray<string>
  readonly links: ReadonlyArray<string>
}

const unescape = (text: string): string =>
  text.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&")

const visit = async (
  address: string,
  init: RequestInit = {},
  handlers: PayerPageHandlers = pages,
): Promise<Page> => {
  const answer = await handlers.fetch(new Request(new URL(address, URL_OF_PAGES), init))
  const html = answer.headers.get("content-type")?.startsWith("text/html") ? await answer.text() : ""
  const matches = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = ""]) => unescape(found))
  return {
    status: answer.status,
    headers: answer.headers,
    html,
    text: html
      .replaceAll(/<style>[\s\S]*?<\/style>/g, "")
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/[\s\u00a0]+/g, " "),
    forms: matches(/action="([^"]*)"/g),
    links: matches(/href="([^"]*)"/g),
  }
}

/** A form that is sent from our own page. */
const post = (path: string, headers: Record<string, string> = { "sec-fetch-site": "same-origin" }) =>
  visit(path, { method: "POST", headers })

const pushPlan = async () => {
  await billing.meters.create({
    key: "calls",
    name: "Calls",
    aggregation: "sum",
    productId: "api",
    unit: "call",
  })
  await billing.plans.push(plan)
}

const begin = async (more: object = {}) => {
  const customer = await billing.customers.create({
    name: "Ada Lovelace",
    email: "ada@example.com",
    currency: "EUR",
    collectionMethod: "send_invoice",
    ...more,
  })
  const draft = await billing.invoices.create({
    customerId: customer.id,
    lines: [{ description: "Workshop", amount: 90_000 }],
  })
  const invoice = await billing.invoices.finalize(draft.id)
  return { customer, invoice }
}

const invoiceLink = async (id: string, options?: PayerLinkOptions) =>
  (await billing.invoices.link(id, options)).url
const portalLink = async (id: string, options?: PayerLinkOptions) =>
  (await billing.customers.portalLink(id, options)).url

describe("links", () => {
  it("lead to the address of the pages, and are valid as long as the caller says", async () => {
    const { customer, invoice } = await begin()
    const link = await billing.invoices.link(invoice.id, { expiresInSeconds: 3_600 })
    assert.isTrue(link.url.startsWith(`${URL_OF_PAGES}/invoices/i.new.default.`))
    assert.deepStrictEqual(link.expiresAt, new Date("2026-11-21T10:30:00Z"))
    const portal = await billing.customers.portalLink(customer.id)
    assert.deepStrictEqual(portal.expiresAt, new Date("2026-11-22T09:30:00Z"))
    assert.strictEqual((await visit(link.url)).status, 200)
    assert.strictEqual((await visit(portal.url)).status, 200)
    await billing.testing.advance({ hours: 1 })
    const expired = await visit(link.url, { headers: { "accept-language": "xx, fr;q=0.9, de;q=0.8" } })
    assert.strictEqual(expired.status, 410)
    assert.include(expired.text, "Ce lien a expiré")
    assert.include(expired.html, `<html lang="fr">`)
  })

  it("name what is wrong with their options", async () => {
    const { customer, invoice } = await begin()
    for (const expiresInSeconds of [59, 7_776_001, 1.5]) {
      const error = await refusal(InvalidInputError, billing.invoices.link(invoice.id, { expiresInSeconds }))
      assert.strictEqual(error.field, "expiresInSeconds")
    }
    const language = { language: "xx" } as object as PayerLinkOptions
    assert.strictEqual(
      (await refusal(InvalidInputError, billing.customers.portalLink(customer.id, language))).field,
      "language",
    )
    await refusal(InvoiceNotFoundError, billing.live.invoices.link(invoice.id))
    await refusal(CustomerNotFoundError, billing.forAccount("other").customers.portalLink(customer.id))
    const draft = await billing.invoices.create({
      customerId: customer.id,
      lines: [{ description: "x", amount: 1 }],
    })
    await refusal(ActionUnavailableError, billing.invoices.link(draft.id))
  })

  it("are the same over REST", async () => {
    const { customer, invoice } = await begin()
    const apiKey = (await billing.keys.create({ name: "app", scopes: ["invoices:*", "customers:*"] })).secret
    const fetch = (url: string, init: RequestInit) => billing.fetch(new Request(url, init))
    const client = createClient({ url: "http://localhost", apiKey, fetch })
    const link = await client.invoices.link(invoice.id, { language: "de" })
    assert.instanceOf(link.expiresAt, Date)
    assert.include((await visit(link.url)).html, `<html lang="de">`)
    const portal = await client.customers.portalLink(customer.id, { expiresInSeconds: 60 })
    assert.strictEqual((await visit(portal.url)).status, 200)
  })

  it("need an address and keys, and the message says which", async () => {
    const failing = (payerPages: object) =>
      refusal(
        ConfigurationError,
        createBilling({ store: memory(), log: false, dispatcher: false, payerPages: payerPages as never }),
      )
    for (const url of [
      "http://shop.example/pay",
      "ftp://shop.example",
      "https://shop.example/pay?x=1",
      "https://u:p@shop.example",
      "https://shop.example/a b",
      7,
    ])
      assert.include((await failing({ url, keys })).message, "payerPages.url must be an address")
    assert.include((await failing({ url: URL_OF_PAGES, keys: "secret" })).message, "link keys are not valid")
    assert.notInclude((await failing({ url: URL_OF_PAGES, keys: "secret" })).message, "secret")
    assert.include((await failing({ url: URL_OF_PAGES, keys: 7 })).message, "payerPages.keys must be a key")
    const without = await createBilling({ store: memory(), mode: "test", log: false, dispatcher: false })
    const customer = await without.customers.create({ name: "Ada", email: "ada@example.com" })
    const error = await refusal(Error, without.customers.portalLink(customer.id))
    assert.strictEqual((error as { code?: string }).code, "payer_pages_unavailable")
    assert.throws(() => without.payerPages(), ConfigurationError)
    await without.close()
  })
})

describe("a link that is not ours", () => {
  /** Each part of a token, changed. */
  const changes = (token: string, others: ReadonlyArray<string>): ReadonlyArray<string> => {
    const parts = token.split(".")
    const swapped = others.flatMap((other) =>
      other.split(".").flatMap((part, at) => {
        const mixed = parts.with(at, part).join(".")
        return mixed === token || mixed === other ? [] : [mixed]
      }),
    )
    const flipped = [...token].map((_, at) =>
      [...token].map((character, i) => (i === at ? (character === "a" ? "b" : "a") : character)).join(""),
    )
    return [
      ...swapped,
      ...flipped.filter((one) => one !== token),
      token.slice(0, -1),
      `${token}.x`,
      `${token}=`,
      parts.slice(0, -1).join("."),
      `${parts.slice(0, -1).join(".")}.`,
      "",
      ".",
      "a".repeat(5_000),
    ]
  }

  it("opens nothing: each part of a token is covered by its code", async () => {
    const { customer, invoice } = await begin()
    const second = await begin()
    const tokenOf = (url: string) => url.split("/").at(-1)!
    const token = tokenOf(await invoiceLink(invoice.id))
    const others = [
      tokenOf(await portalLink(customer.id)),
      tokenOf(await invoiceLink(second.invoice.id, { expiresInSeconds: 60, language: "de" })),
      token.replace(".test.", ".live.").replace(".default.", ".other.").replace(".new.", ".old."),
    ]
    for (const wrong of changes(token, others)) {
      const page = await visit(`/pay/invoices/${wrong}`)
      assert.strictEqual(page.status, 404, wrong)
      assert.notInclude(page.text, "Workshop")
    }
    // A link of one kind opens no page of the other.
    assert.strictEqual((await visit(`/pay/account/${token}`)).status, 404)
    assert.strictEqual((await visit(`/pay/invoices/${others[0]}`)).status, 404)
  })

  it("looks the same whether or not there is such an object", async () => {
    const { customer } = await begin()
    const url = await portalLink(customer.id)
    await billing.customers.erase(customer.id)
    const erased = await visit(url)
    const wrong = await visit(`${url}x`)
    assert.strictEqual(erased.status, 404)
    assert.strictEqual(erased.html, wrong.html)
  })

  it("opens no pages of others by ids in its path", async () => {
    const { customer, invoice } = await begin()
    const other = await begin({ name: "Eve" })
    await pushPlan()
    const subscription = await billing.subscriptions.create({ customerId: other.customer.id, plan: "pro" })
    const card = await payments.saveCard(other.customer.id)
    const path = new URL(await portalLink(customer.id)).pathname
    for (const rest of [`cancel/${subscription.id}`, `uncancel/${subscription.id}`, `default/${card.id}`])
      assert.strictEqual((await post(`${path}/${rest}`)).status, 404, rest)
    assert.strictEqual((await visit(`${path}/cancel/${subscription.id}`)).status, 404)
    assert.strictEqual((await visit(`${path}?before=${other.invoice.id}x`)).status, 409)
    assert.isNull((await billing.subscriptions.get(subscription.id)).endsAt)
    const pay = await post(`${new URL(await invoiceLink(invoice.id)).pathname}/pay/${card.id}`)
    assert.strictEqual(pay.status, 303)
    assert.strictEqual(payments.payments.filter(({ charges }) => charges > 0).length, 0)
  })
})

describe("every page", () => {
  it("is private, loads nothing from elsewhere, and has no script", async () => {
    const { customer, invoice } = await begin({ name: HOSTILE })
    const addresses = [await invoiceLink(invoice.id), await portalLink(customer.id), `${URL_OF_PAGES}/x`]
    for (const address of addresses) {
      const { headers, html } = await visit(address)
      assert.strictEqual(headers.get("cache-control"), "no-store")
      assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
      assert.match(headers.get("x-robots-tag")!, /noindex/)
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
      const policy = headers.get("content-security-policy")!
      assert.match(policy, /^default-src 'none'; style-src 'sha256-[^ ]+' 'sha256-[^ ]+'; img-src data:; /)
      for (const [, style = ""] of html.matchAll(/<style>([\s\S]*?)<\/style>/g)) {
        const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style))
        assert.include(policy, `'sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}'`)
      }
      assert.notMatch(html, /<script|<link|<iframe|\sstyle=|\son\w+="/)
      assert.notInclude(html, HOSTILE)
    }
    assert.include((await visit(addresses[1]!)).html, "&lt;script&gt;alert(1)&lt;/script&gt;")
  })

  it("says that it is of test mode, and not of live mode", async () => {
    const { invoice } = await begin()
    assert.include((await visit(await invoiceLink(invoice.id))).text, "Test mode: no money moves here.")
  })

  it("has the host's colours, which must be readable", async () => {
    const { invoice } = await begin()
    const url = await invoiceLink(invoice.id)
    const logo = "https://cdn.example/logo.svg"
    const handlers = billing.payerPages({ theme: { accent: "#7a1fa2", background: "#ffffff", logo } })
    const page = await visit(`${url}x`, {}, handlers)
    assert.include(page.html, "--accent: #7a1fa2")
    assert.include(page.html, `src="${logo}"`)
    assert.include(page.headers.get("content-security-policy"), "img-src data: https://cdn.example;")
    const wrong = (mount: object) => assert.throws(() => billing.payerPages(mount as PayerPageMount))
    const messageOf = (mount: object): string => {
      try {
        billing.payerPages(mount as PayerPageMount)
      } catch (error) {
        assert.instanceOf(error, ConfigurationError)
        return (error as Error).message
      }
      return ""
    }
    assert.include(
      messageOf({ theme: { accent: "#ffff00" } }),
      "theme.accent must have a contrast of at least 4.5 to the background: #ffff00",
    )
    assert.include(messageOf({ theme: { dark: { text: "#000000" } } }), "theme.dark.text must have")
    assert.include(messageOf({ theme: { text: "red" } }), "theme.text must be a colour")
    assert.include(messageOf({ theme: { logo: "https://a.example/x;script-src *" } }), "theme.logo must be")
    assert.include(messageOf({ theme: { logo: "http://a.example/x" } }), "theme.logo must be")
    assert.include(messageOf({ allow: { pay: 1 } }), "allow.pay must be true or false")
    wrong({ allow: { delete: true } })
    wrong({ them: {} })
  })
})

describe("the page of an invoice", () => {
  it("shows how it stands, with its document, and its PDF", async () => {
    const { customer, invoice } = await begin({ locale: "de" })
    const url = await invoiceLink(invoice.id)
    const open = await visit(url)
    for (const part of ["900,00 € zu zahlen", "Bitte zahlen Sie bis zum", "Workshop", invoice.number!])
      assert.include(open.text, part)
    assert.include((await visit(await invoiceLink(invoice.id, { language: "es" }))).text, "por pagar")
    const pdf = await pages.fetch(new Request(`${url}/pdf`))
    assert.strictEqual(pdf.headers.get("content-type"), "application/pdf")
    assert.strictEqual(pdf.headers.get("cache-control"), "no-store")
    assert.strictEqual((await pdf.text()).slice(0, 5), "%PDF-")
    await billing.payments.record({ invoiceId: invoice.id, amount: 90_000 })
    const paid = await visit(url)
    assert.include(paid.text, "Bezahlt. Vielen Dank!")
    assert.deepStrictEqual(paid.forms, [])
    const other = await begin({ locale: "fr" })
    await billing.invoices.void(other.invoice.id)
    assert.include((await visit(await invoiceLink(other.invoice.id))).text, "Cette facture a été annulée.")
    // The invoice of an erased customer is kept, and so is its link.
    await billing.customers.erase(customer.id)
    assert.strictEqual((await visit(url)).status, 200)
  })

  it("offers no card to a customer who was erased, also from a page of before", async () => {
    const { customer, invoice } = await begin()
    const path = new URL(await invoiceLink(invoice.id)).pathname
    assert.deepStrictEqual((await visit(path)).forms, [`${path}/card`])
    await billing.customers.erase(customer.id)
    const page = await visit(path)
    assert.deepStrictEqual([page.status, page.forms], [200, []])
    assert.strictEqual((await post(`${path}/card`)).status, 409)
  })

  it("takes a card on the provider's page, and then the payment, once", async () => {
    const { invoice } = await begin()
    const path = new URL(await invoiceLink(invoice.id)).pathname
    const first = await visit(path)
    assert.deepStrictEqual(first.forms, [`${path}/card`])
    const leaving = await post(`${path}/card`)
    assert.strictEqual(leaving.status, 200)
    const [method] = (await billing.paymentMethods.list().page()).data
    assert.strictEqual(leaving.headers.get("refresh"), `0;url=https://fake.example/fake_${method!.id}`)
    payments.enterCard(method!.id)
    const back = await visit(`${path}/return/${method!.id}`)
    assert.deepStrictEqual([back.status, back.headers.get("location")], [303, path])
    const saved = await visit(path)
    assert.include(saved.text, "Pay with Visa ending in 4242")
    assert.deepStrictEqual(saved.forms, [`${path}/pay/${method!.id}`, `${path}/card`])
    // Clicked twice, and sent again later.
    const answers = await Promise.all([post(saved.forms[0]!), post(saved.forms[0]!)])
    for (const { headers, status } of [...answers, await post(saved.forms[0]!)])
      assert.deepStrictEqual([status, headers.get("location")], [303, path])
    assert.strictEqual((await billing.invoices.get(invoice.id)).status, "paid")
    assert.deepStrictEqual(
      payments.payments.map(({ charges }) => charges),
      [1],
    )
    assert.include((await visit(path)).text, "Paid. Thank you!")
  })

  it("is paid by the default method, and shows none, if payers may not see methods", async () => {
    const { customer, invoice } = await begin()
    const path = new URL(await invoiceLink(invoice.id)).pathname
    pages = billing.payerPages({ allow: { methods: false } })
    // Nothing can pay yet.
    assert.deepStrictEqual((await visit(path)).forms, [])
    assert.strictEqual((await post(`${path}/pay`)).status, 409)
    const { id } = await payments.saveCard(customer.id)
    const page = await visit(path)
    assert.deepStrictEqual(page.forms, [`${path}/pay`])
    assert.notInclude(page.text, "4242")
    for (const rest of [`pay/${id}`, "card"])
      assert.strictEqual((await post(`${path}/${rest}`)).status, 404, rest)
    assert.lengthOf((await billing.paymentMethods.list().page()).data, 1)
    assert.strictEqual((await billing.invoices.get(invoice.id)).status, "open")
    assert.strictEqual((await post(page.forms[0]!)).status, 303)
    assert.strictEqual((await billing.invoices.get(invoice.id)).status, "paid")
  })

  it("is changed by the payer: the audit log says who it was, and from where", async () => {
    await billing.close()
    await start({ http: { trustedProxies: ["10.0.0.0/8"] } })
    const { customer, invoice } = await begin()
    const path = new URL(await invoiceLink(invoice.id)).pathname
    const headers = {
      "sec-fetch-site": "same-origin",
      "user-agent": "browser",
      "x-forwarded-for": "203.0.113.7",
    }
    const act = (address: string) =>
      pages.fetch(new Request(new URL(address, URL_OF_PAGES), { method: "POST", headers }), {
        incoming: { socket: { remoteAddress: "10.1.2.3" } },
      })
    assert.strictEqual((await act(`${path}/card`)).status, 200)
    assert.strictEqual((await act(`${new URL(await portalLink(customer.id)).pathname}/card`)).status, 200)
    for (const { id } of (await billing.paymentMethods.list().page()).data) {
      const records = (await billing.auditRecords.list({ objectId: id }).page()).data
      const payer = { actorType: "payer" as const, actorId: customer.id, actorRole: null }
      assert.isNotEmpty(records)
      for (const record of records)
        assert.deepInclude(record, { ...payer, ip: "203.0.113.7", userAgent: "browser", requestId: null })
    }
  })

  it("lets the bank ask, and reads what came of it when the payer is back", async () => {
    const { customer, invoice } = await begin()
    await payments.saveCard(customer.id, { behaviour: "needs_confirmation" })
    const path = new URL(await invoiceLink(invoice.id)).pathname
    const { forms } = await visit(path)
    const leaving = await post(forms[0]!)
    assert.match(leaving.headers.get("refresh")!, /^0;url=https:\/\/fake\.example\//)
    assert.include((await visit(path)).text, "Your bank asks you to confirm the payment.")
    // The webhook gets lost.
    const told = payments.notices.length
    await payments.confirm(invoice.id)
    assert.isAbove(payments.notices.length, told)
    await visit(`${path}/return`)
    assert.include((await visit(path)).text, "Paid. Thank you!")
  })

  it("says that a card was declined, that the provider is out of reach, and what nobody knows", async () => {
    const { customer, invoice } = await begin()
    const card = await payments.saveCard(customer.id, { behaviour: { code: "insufficient_funds" } })
    const path = new URL(await invoiceLink(invoice.id)).pathname
    await post(`${path}/pay/${card.id}`)
    const declined = await visit(path)
    assert.include(declined.text, "€900.00 to pay")
    payments.next("processing")
    await post(`${path}/pay/${card.id}`)
    const processing = await visit(path)
    assert.include(processing.text, "Your payment is on its way.")
    assert.deepStrictEqual(processing.forms, [])
    const again = await post(`${path}/pay/${card.id}`)
    assert.deepStrictEqual([again.status, again.headers.get("location")], [303, path])
    const other = await begin()
    const otherPath = new URL(await invoiceLink(other.invoice.id)).pathname
    payments.fail("refuse", "startSetup")
    const refused = await post(`${otherPath}/card`)
    assert.strictEqual(refused.status, 503)
    assert.include(refused.text, "The payment service did not answer as it should.")
    assert.include(refused.links, otherPath)
  })

  it("takes no form of other sites", async () => {
    const { customer, invoice } = await begin()
    const card = await payments.saveCard(customer.id)
    const path = `${new URL(await invoiceLink(invoice.id)).pathname}/pay/${card.id}`
    const refused: ReadonlyArray<Record<string, string>> = [
      {},
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "cross-site", origin: "https://shop.example" },
      { origin: "null" },
      { origin: "https://shop.example.evil.example" },
      { origin: "http://shop.example" },
    ]
    for (const headers of refused) {
      const page = await post(path, headers)
      assert.strictEqual(page.status, 403, JSON.stringify(headers))
      assert.include(page.text, "This was not sent from our page")
    }
    assert.strictEqual(payments.payments.length, 0)
    assert.strictEqual((await visit(path, { method: "GET" })).status, 404)
    assert.strictEqual((await visit(path, { method: "DELETE" })).status, 405)
    assert.strictEqual((await post(path, { origin: "https://shop.example" })).status, 303)
  })

  it("shows what payers may do, and no more is possible", async () => {
    const { customer, invoice } = await begin()
    const card = await payments.saveCard(customer.id)
    pages = billing.payerPages({ allow: { pay: false } })
    const path = new URL(await invoiceLink(invoice.id)).pathname
    assert.deepStrictEqual((await visit(path)).forms, [])
    for (const rest of ["pay", `pay/${card.id}`, "card"])
      assert.strictEqual((await post(`${path}/${rest}`)).status, 404)
  })
})

describe("limits", () => {
  it("are on what is done with an invoice, whatever link leads to it, and let its page be read", async () => {
    const { invoice } = await begin()
    const other = await begin()
    const path = new URL(await invoiceLink(invoice.id)).pathname
    // A program that tries cards. What other sites send doesn't count, so that nobody locks the payer out.
    await post(`${path}/pay`, { "sec-fetch-site": "cross-site" })
    for (let sent = 0; sent < 30; sent++) assert.strictEqual((await visit(`${path}/return`)).status, 303)
    const refused = await post(`${path}/card`)
    assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "5"])
    assert.include(refused.text, "Too many requests")
    assert.lengthOf((await billing.paymentMethods.list().page()).data, 0)
    const again = new URL(await invoiceLink(invoice.id, { language: "de" })).pathname
    assert.include((await post(`${again}/card`)).text, "Zu viele Anfragen")
    assert.strictEqual((await visit(path)).status, 200)
    const others = new URL(await invoiceLink(other.invoice.id)).pathname
    assert.strictEqual((await post(`${others}/card`)).status, 200)
    await billing.testing.advance({ seconds: 5 })
    assert.strictEqual((await post(`${path}/card`)).status, 200)
    assert.strictEqual((await post(`${path}/card`)).status, 429)
  })

  it("are those of API keys for all requests, if the host has set them", async () => {
    await billing.close()
    await start({ http: { rateLimit: { requestsPerSecond: 2 } } })
    const { customer, invoice } = await begin()
    const url = await invoiceLink(invoice.id)
    for (const status of [200, 200, 429]) assert.strictEqual((await visit(url)).status, status)
    assert.strictEqual((await visit(await portalLink(customer.id))).status, 200)
    // A link that nobody has signed is not counted for anybody.
    assert.strictEqual((await visit(`${url}x`)).status, 404)
    await billing.testing.advance({ seconds: 1 })
    assert.strictEqual((await visit(url)).status, 200)
  })
})

describe("the pages of a customer", () => {
  const subscribe = async (more: object = {}) => {
    await pushPlan()
    const customer = await billing.customers.create({
      name: "Ada Lovelace",
      email: "ada@example.com",
      timezone: "Europe/Berlin",
      ...more,
    })
    const subscription = await billing.subscriptions.create({ customerId: customer.id, plan: "pro" })
    await billing.testing.advance({ days: 1 })
    await billing.usage.record({
      customerId: customer.id,
      productId: "api",
      quantity: 14,
      unit: "call",
      idempotencyKey: "a",
    })
    return { customer, subscription, path: new URL(await portalLink(customer.id)).pathname }
  }

  it("show plan, usage with what it costs and why, and invoices", async () => {
    const { customer, path } = await subscribe()
    const page = await visit(path)
    for (const part of [
      "Ada Lovelace",
      "Pro &lt;b&gt;",
      "€49.00 a month and what you use",
      "Usage in this period",
      "Calls",
      "14",
      "€2.00", // 4 calls above the 10 that are free
      "How this was computed",
      "Next invoice",
      "On December 21, 2026: €51.00 by now",
      "No payment method is saved.",
    ])
      assert.include(page.text, part)
    assert.match(page.html, /<details>/)
    const [invoice] = (await billing.invoices.list({ customerId: customer.id }).page()).data
    const link = page.links.find((href) => href.includes("/invoices/"))!
    assert.include((await visit(link)).text, invoice!.number!)
    const german = await visit(await portalLink(customer.id, { language: "de" }))
    for (const part of ["49,00 € pro Monat zuzüglich Verbrauch", "So wurde gerechnet", "51,00 €"])
      assert.include(german.text, part)
    assert.notInclude(german.text, "€51.00")
    // Links on the page are as long valid as the page.
    await billing.testing.advance({ days: 1 })
    assert.strictEqual((await visit(link)).status, 410)
  })

  it("cancel at the end of the period after a question, and take it back", async () => {
    const { path, subscription } = await subscribe()
    const ask = (await visit(path)).links.find((href) => href.includes("/cancel/"))!
    const question = await visit(ask)
    assert.include(question.text, "It ends on December 21, 2026.")
    assert.isNull((await billing.subscriptions.get(subscription.id)).endsAt)
    for (let sent = 0; sent < 2; sent++) {
      const done = await post(question.forms[0]!)
      assert.deepStrictEqual([done.status, done.headers.get("location")], [303, path])
    }
    const { endsAt } = await billing.subscriptions.get(subscription.id)
    assert.deepStrictEqual(endsAt, new Date("2026-12-21T09:30:00Z"))
    const canceled = await visit(path)
    assert.include(canceled.text, "Ends on December 21, 2026")
    assert.isUndefined(canceled.links.find((href) => href.includes("/cancel/")))
    assert.strictEqual((await visit(ask)).status, 303)
    await post(canceled.forms.find((action) => action.includes("/uncancel/"))!)
    await post(canceled.forms.find((action) => action.includes("/uncancel/"))!)
    assert.isNull((await billing.subscriptions.get(subscription.id)).endsAt)
  })

  it("show payment methods by brand and last digits, add one, and choose the default", async () => {
    const { customer, path } = await subscribe()
    const first = await payments.saveCard(customer.id)
    const leaving = await post(`${path}/card`)
    assert.strictEqual(leaving.status, 200)
    const pending = (await billing.paymentMethods.list({ status: "pending" }).page()).data[0]!
    payments.enterCard(pending.id, { brand: "mastercard", last4: "4444" })
    assert.strictEqual((await visit(`${path}/return/${pending.id}`)).status, 303)
    const page = await visit(path)
    assert.include(page.text, "Visa ending in 4242, valid until 12/2034")
    assert.include(page.text, "Mastercard ending in 4444")
    assert.notInclude(page.html, first.reference!)
    await post(page.forms.find((action) => action.includes("/default/"))!)
    const methods = (await billing.paymentMethods.list({ status: "attached" }).page()).data
    assert.deepStrictEqual(
      methods.map(({ isDefault, last4 }) => [last4, isDefault]),
      [
        ["4444", true],
        ["4242", false],
      ],
    )
  })

  it("write numbers as in the customer's region, in the customer's language", async () => {
    const { path } = await subscribe({ locale: "en-GB" })
    assert.include((await visit(path)).text, "On 21 December 2026: €51.00 by now")
  })

  it("lead to invoices that are to be paid, unless payers don't pay here", async () => {
    const { customer, invoice } = await begin()
    const url = await portalLink(customer.id)
    assert.include((await visit(url)).text, "Pay €900.00")
    const readers = billing.payerPages({ allow: { pay: false } })
    assert.notInclude((await visit(url, {}, readers)).text, "Pay €900.00")
    await billing.payments.record({ invoiceId: invoice.id, amount: 90_000 })
    assert.notInclude((await visit(url)).text, "Pay €")
  })

  it("list older invoices on other pages", async () => {
    const { customer } = await begin()
    for (let i = 0; i < 14; i++) {
      const lines = [{ description: "x", amount: 100 + i }]
      const draft = await billing.invoices.create({ customerId: customer.id, lines })
      await billing.invoices.finalize(draft.id)
    }
    const page = await visit(await portalLink(customer.id))
    const numbers = (text: string) => [...text.matchAll(/2026-\d{4}/g)].map(([number]) => number)
    assert.strictEqual(numbers(page.text).length, 12)
    const older = await visit(page.links.find((href) => href.includes("?before="))!)
    assert.deepStrictEqual(numbers(older.text), ["2026-0003", "2026-0002", "2026-0001"])
  })

  it("show what payers may do, and no more is possible", async () => {
    const { path, subscription } = await subscribe()
    pages = billing.payerPages({ allow: { cancel: false, methods: false, usage: false } })
    const page = await visit(path)
    assert.deepStrictEqual(page.forms, [])
    assert.notInclude(page.text, "Usage in this period")
    assert.notInclude(page.text, "Payment methods")
    for (const rest of [`cancel/${subscription.id}`, `uncancel/${subscription.id}`, "card"])
      assert.strictEqual((await post(`${path}/${rest}`)).status, 404)
    assert.strictEqual((await visit(`${path}/cancel/${subscription.id}`)).status, 404)
  })
})

describe("the handlers", () => {
  it("answer below the path of the pages, and pass the rest on", async () => {
    const { invoice } = await begin()
    const path = new URL(await invoiceLink(invoice.id)).pathname
    const elsewhere = await pages.fetch(new Request("https://shop.example/other"))
    assert.strictEqual(elsewhere.status, 404)
    const proxied = billing.payerPages({ basePath: "/inside" })
    const page = await visit(path.replace("/pay/", "/inside/"), {}, proxied)
    assert.strictEqual(page.status, 200)
    // Links are those that the browser can follow.
    assert.isTrue([...page.links, ...page.forms].every((to) => to.startsWith("/pay/")))
    const head = await pages.fetch(new Request(new URL(path, URL_OF_PAGES), { method: "HEAD" }))
    assert.deepStrictEqual([head.status, await head.text()], [200, ""])
  })

  it("answer 503 after billing was closed", async () => {
    const other: Billing = await createTestBilling({ log: false, payerPages: { url: URL_OF_PAGES, keys } })
    const handlers = other.payerPages()
    await other.close()
    assert.strictEqual((await handlers.fetch(new Request(`${URL_OF_PAGES}/x`))).status, 503)
    assert.throws(() => other.payerPages())
  })
})
