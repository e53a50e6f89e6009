import { inspect } from "node:util"
/** Nothing that the adapter answers, fails with or logs has a secret or a detail of a card. */
import type { ProviderFailure } from "@billwright/core"
import type { StripeFault } from "@billwright/testing/stripe"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger } from "effect"
import { afterAll } from "vitest"
import { clientOf, fake, keyOf, open, SECRETS } from "./AtFake.ts"

afterAll(() => fake.close())

const FAULTS: ReadonlyArray<StripeFault> = [
  "cut_body",
  "server_error",
  "server_error_after",
  "in_use",
  "locked",
  "rate_limited",
]

const json = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}` : one)) ?? ""

describe("secrets", () => {
  it.effect("are in no answer, no failure and no log, whatever goes wrong", () =>
    Effect.gen(function* () {
      const { account, key, provider } = open()
      const methods = provider.methods!
      const said: Array<unknown> = []
      const log = Logger.make(({ cause, message }) => said.push(message, cause))
      let step = 0
      /** Makes a call with each fault, and then without. */
      const call = Effect.fnUntraced(function* <A>(make: (id: string) => Effect.Effect<A, ProviderFailure>) {
        for (const fault of FAULTS) {
          account.fail({ path: /./ }, fault)
          step += 1
          const failed = yield* Effect.exit(
            Effect.tapCause(make(`row_${step}`), (cause) => Effect.logError(cause)),
          )
          said.push(failed)
        }
        step += 1
        const exit = yield* Effect.exit(make(`row_${step}`))
        said.push(exit)
        return Exit.isSuccess(exit) ? exit.value : assert.fail(inspect(exit))
      })
      yield* Effect.gen(function* () {
        const details = { customerId: "cus_1" as never, name: "Ada", email: "ada@example.com" }
        const { reference: customer } = yield* call(() => methods.ensureCustomer(details))
        const setup = yield* call((setupId) => methods.startSetup({ setupId, customer, returnUrl: null }))
        const returnUrl = "https://shop.example/return"
        const page = yield* call((setupId) => methods.startSetup({ setupId, customer, returnUrl }))
        yield* call(() => methods.readSetup(page.reference))
        account.enterCard(setup.reference, "pm_card_authenticationRequired")
        account.completeSetup(setup.reference)
        const saved = yield* call(() => methods.readSetup(setup.reference))
        const method = saved.status === "saved" ? saved.method.reference : null
        const rows = {
          mode: "test" as const,
          invoiceId: "inv_1" as never,
          customerId: details.customerId,
          customer,
        }
        const { reference } = yield* call((id) =>
          provider.openPayment({ ...rows, paymentId: id as never, amount: 2_000n, currency: "EUR" }),
        )
        for (const presence of ["off_session", "on_session"] as const) {
          const attempt = { reference, method, presence, returnUrl: null }
          yield* call((attemptId) => provider.attemptPayment({ ...attempt, attemptId }))
        }
        account.complete(reference)
        yield* call(() => provider.readPayment(reference))
        const refund = { paymentReference: reference, amount: 1n, currency: "EUR" }
        const refunded = yield* call((refundId) => provider.refund({ ...refund, refundId }))
        yield* call(() => provider.readRefund({ reference: refunded.reference ?? "" }))
        yield* call(() => provider.readDispute(account.dispute(reference).id))
        yield* call(() => provider.closePayment(reference))
      }).pipe(Effect.provide(Logger.layer([log])))
      const stranger = open({ client: clientOf(keyOf("stranger").replace("test", "live")) }).provider
      said.push(yield* Effect.exit(stranger.readPayment("pi_1")))
      said.push(
        provider.receive({ body: new Uint8Array(), headers: { "stripe-signature": SECRETS.current } }, 0),
      )
      const text = said
        .map((one) => [inspect(one, { depth: 20, showHidden: true }), json(one), String(one)].join("\n"))
        .join("\n")
      assert.include(text, "idempotency_key_in_use")
      assert.include(text, "<redacted")
      const secrets = [
        key,
        keyOf("stranger").replace("test", "live"),
        ...Object.values(SECRETS),
        ...account.all("payment_intent").map(({ client_secret }) => client_secret),
        ...account.all("setup_intent").map(({ client_secret }) => client_secret),
        ...account.all("checkout.session").map(({ url }) => url ?? "no page"),
        ...account.all("payment_method").map(({ card }) => card?.fingerprint ?? "fingerprint"),
        "4000002760003184",
        "ada@example.com",
      ]
      assert.isAbove(secrets.length, 10)
      for (const secret of secrets) assert.notInclude(text, secret)
    }),
  )
})
