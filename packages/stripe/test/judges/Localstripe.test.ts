/** What the fake and localstripe have in common, they answer alike; and so does Stripe, if there is a key. */
import { Stripe } from "stripe"
import { afterAll, assert, describe, it } from "vitest"
import { clientOf, fake, keyOf } from "../AtFake.ts"
import { because, localstripe, makeDirectory, missing } from "./Judge.ts"
import { observe } from "./Scenario.ts"

afterAll(() => fake.close())

/** localstripe knows no `off_session` at a confirmation. */
const withoutOffSession: typeof fetch = (input, init) =>
  fetch(input, { ...init, body: String(init?.body ?? "").replace(/(^|&)off_session=true/, "") || null })

describe("the fake of Stripe", () => {
  it.skipIf(missing.python !== undefined)(
    `answers as localstripe does${because(missing.python)}`,
    async () => {
      const { directory, remove } = await makeDirectory()
      const judge = await localstripe(directory)
      try {
        const client = new Stripe(keyOf("judge"), {
          host: "127.0.0.1",
          port: judge.port,
          protocol: "http",
          telemetry: false,
          httpClient: Stripe.createFetchHttpClient(withoutOffSession),
        })
        assert.deepStrictEqual(await observe(clientOf(keyOf("localstripe"))), await observe(client))
      } finally {
        await judge.stop()
        await remove()
      }
    },
  )

  it.skipIf(missing.key !== undefined)(`answers as Stripe does${because(missing.key)}`, async () => {
    const client = new Stripe(process.env["STRIPE_TEST_KEY"] ?? "", { telemetry: false })
    assert.deepStrictEqual(await observe(clientOf(keyOf("stripe"))), await observe(client))
  })
})
