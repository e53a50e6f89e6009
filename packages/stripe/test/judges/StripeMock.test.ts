/** Stripe's own mock: its document fits the answers of the fake, and it takes every call of the adapter. */
import type { PaymentProvider } from "@billwright/core"
import { FAKE_API_VERSION } from "@billwright/testing/stripe"
import { Effect } from "effect"
import { Stripe } from "stripe"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { fake, keyOf, open } from "../AtFake.ts"
import { because, makeDirectory, missing, stripeMock } from "./Judge.ts"
import { type Answer, readDocument } from "./OpenApi.ts"
import { observe } from "./Scenario.ts"

/** The document of the mock has the parameters of an earlier version: one of them had another name. */
const asDocumented = (init?: RequestInit): RequestInit | undefined => {
  if (typeof init?.body !== "string") return init
  const headers = new Headers(init.headers)
  // It is computed anew.
  headers.delete("content-length")
  return {
    ...init,
    headers,
    body: init.body.replace("allowed_payment_method_types", "payment_method_types"),
  }
}

/** A client of a server of this machine, which notes the answers. */
const listening = (port: number, name: string, asKnown = (init?: RequestInit) => init) => {
  const answers: Array<Answer> = []
  const noting: typeof fetch = async (input, init) => {
    const response = await fetch(input, asKnown(init))
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    const body: unknown = await response.clone().json()
    answers.push({ method: init?.method ?? "GET", path: pathname, status: response.status, body })
    return response
  }
  const client = new Stripe(keyOf(name), {
    host: "127.0.0.1",
    port,
    protocol: "http",
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(noting),
  })
  return { answers, client }
}

/** Makes every call of a provider, whatever comes of it. */
const callAll = async ({ methods, ...provider }: PaymentProvider): Promise<void> => {
  const customerId = "cus_1" as never
  const ids = { paymentId: "pay_1" as never, invoiceId: "inv_1" as never }
  const rows = { ...ids, mode: "test" as const, customerId, customer: "cus_1" }
  const attempt = { reference: "pi_1", method: "pm_1", returnUrl: "https://shop.example/return" }
  const refund = { refundId: "ref_1", paymentReference: "pi_1", amount: 500n, currency: "EUR" }
  const calls: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
    methods!.ensureCustomer({ customerId, name: "Ada", email: "ada@example.com" }),
    methods!.startSetup({ setupId: "seti_1", customer: "cus_1", returnUrl: null }),
    methods!.startSetup({ setupId: "seti_2", customer: "cus_1", returnUrl: "https://shop.example/return" }),
    methods!.readSetup("seti_1"),
    methods!.readSetup("cs_1"),
    methods!.detachMethod("pm_1"),
    provider.openPayment({ ...rows, amount: 2_000n, currency: "EUR" }),
    provider.attemptPayment({ ...attempt, attemptId: "att_1", presence: "off_session" }),
    provider.attemptPayment({ ...attempt, attemptId: "att_2", presence: "on_session" }),
    provider.readPayment("pi_1"),
    provider.closePayment("pi_1"),
    provider.refund(refund),
    provider.readRefund({ reference: "re_1" }),
    provider.readDispute("du_1"),
  ]
  for (const call of calls) await Effect.runPromise(Effect.exit(call))
}

describe.skipIf(missing.go !== undefined)(`stripe-mock${because(missing.go)}`, () => {
  let judge: Awaited<ReturnType<typeof stripeMock>>
  let directory: Awaited<ReturnType<typeof makeDirectory>>
  beforeAll(async () => {
    directory = await makeDirectory()
    judge = await stripeMock(directory.directory)
  }, 480_000)
  afterAll(async () => {
    await judge?.stop()
    await directory.remove()
    await fake.close()
  })

  it("takes every call of the adapter", async () => {
    const { answers, client } = listening(judge.port, "mock", asDocumented)
    await callAll(open({ client }).provider)
    const named = answers.map(
      ({ method, path }) =>
        `${method} ${path.replaceAll(/\/[a-z]+_\w+/g, (part) => (/^\/(payment|setup)_/.test(part) ? part : "/{id}"))}`,
    )
    const expected = [
      "GET /v1/customers/search",
      "POST /v1/customers/{id}",
      "POST /v1/setup_intents",
      "GET /v1/setup_intents/{id}",
      "POST /v1/checkout/sessions",
      "GET /v1/checkout/sessions/{id}",
      "POST /v1/payment_methods/{id}/detach",
      "POST /v1/payment_intents",
      "POST /v1/payment_intents/{id}",
      "POST /v1/payment_intents/{id}/confirm",
      "GET /v1/payment_intents/{id}",
      "POST /v1/payment_intents/{id}/cancel",
      "GET /v1/refunds",
      "POST /v1/refunds",
      "GET /v1/refunds/{id}",
      "GET /v1/disputes/{id}",
    ]
    for (const call of expected) assert.include(named, call)
    for (const { body, method, path, status } of answers) {
      assert.strictEqual(status, 200, `${method} ${path}: ${JSON.stringify(body)}`)
    }
    const wrong = client.paymentIntents.create({ amount: 1, currency: "eur", amuont: 1 } as never)
    await wrong.then(
      () => assert.fail("a judge who takes everything judges nothing"),
      (error: unknown) => assert.instanceOf(error, Stripe.errors.StripeInvalidRequestError),
    )
  })

  it("has a document that fits each answer of the fake", async () => {
    const document = await readDocument(judge.document)
    const { answers, client } = listening(fake.port, "document")
    const account = fake.account(keyOf("document"))
    await observe(client)
    await callAll(open({ client }).provider)
    const paid = await client.paymentIntents.create({
      amount: 2_000,
      currency: "eur",
      payment_method: "pm_card_createDispute",
      confirm: true,
      expand: ["latest_charge", "payment_method"],
    })
    await client.disputes.retrieve(account.all("dispute")[0]?.id ?? "")
    await client.refunds.create({ payment_intent: paid.id }).catch(() => undefined)
    await client.charges.retrieve(account.all("charge")[0]?.id ?? "")
    await client.paymentIntents.list({ limit: 2, expand: ["data.latest_charge"] })
    await client.customers.list({}).catch(() => undefined)
    await client.events.list({ limit: 100 })
    const { id: session } = await client.checkout.sessions.create({
      mode: "setup",
      allowed_payment_method_types: ["card"],
      success_url: "https://shop.example/return",
    })
    await client.checkout.sessions.retrieve(session, { expand: ["setup_intent"] })
    await client.checkout.sessions.expire(session)
    await client.setupIntents.cancel((await client.setupIntents.create({})).id)
    const statuses = new Set(answers.map(({ status }) => status))
    assert.includeMembers([...statuses], [200, 400, 402, 404])
    assert.deepStrictEqual(
      answers.flatMap((answer) => document.problemsOf(answer)),
      [],
    )
    for (const event of account.events) {
      const { object } = event.data
      assert.deepStrictEqual(document.problemsOfObject("event", event), [])
      const kind = "object" in object ? String(object.object) : ""
      assert.deepStrictEqual(document.problemsOfObject(kind, object), [], `${event.type} ${kind}`)
    }
    const wrong = {
      method: "GET",
      path: "/v1/refunds/re_1",
      status: 200,
      body: { object: "refund", amount: "1" },
    }
    assert.notDeepEqual(document.problemsOf(wrong), [])
    assert.match(FAKE_API_VERSION, /^\d{4}-\d{2}-\d{2}\.\w+$/)
  })
})
