import {
  Billing,
  type CurrentTenant,
  Dispatcher,
  type Endpoint,
  Endpoints,
  EndpointVerification,
  IdGenerator,
  InvalidInput,
  Tenant,
  Transactor,
  WebhookTransport,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Receiver, ScriptedReceivers } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { acme } from "../world.ts"
import {
  attemptsOf,
  deliveryOf,
  newEndpoint,
  publish,
  received,
  runDue,
  script,
  URL_A,
  URL_B,
} from "./world.ts"

const ORIGIN = "billing.example.com"
const { answers, fails, hangs } = Receiver

const agrees = (origin = ORIGIN) => answers(200, { "webhook-allowed-origin": origin })

/** Runs a test with services that ask endpoints, and receivers that follow scripts. */
const asking = <A, E, R>(test: Effect.Effect<A, E, R>) => {
  const services = Layer.unwrap(
    Effect.map(WebhookTransport, (transport) =>
      Billing.layerWithIds({
        encryption: "none",
        webhooks: { verification: { origin: ORIGIN, transport } },
      }),
    ),
  )
  const layer = Dispatcher.layerManual({ requestOrigin: ORIGIN }).pipe(
    Layer.provideMerge(services),
    Layer.provideMerge(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1), ScriptedReceivers.layer)),
    Layer.merge(Layer.succeed(Tenant.CurrentTenant, acme)),
  )
  return Effect.provide(test, layer)
}

const count = Effect.map(received(), (requests) => requests.length)

const refusal = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.instanceOf(error, InvalidInput)
    assert.strictEqual(error.field, "url")
    return error.problem
  })

const create = (input: Partial<Endpoint.CreateEndpoint> = {}) => newEndpoint(input)
const none = Effect.flatMap(Endpoints, (endpoints) => Effect.map(endpoints.list(), ({ data }) => data.length))

describe("a new endpoint", () => {
  it.effect("is asked once, without its headers and without an event", () =>
    Effect.gen(function* () {
      yield* script(URL_A, agrees())
      const { endpoint } = yield* create({ headers: { authorization: "Bearer of-the-receiver" } })
      assert.strictEqual(endpoint.url, URL_A)
      const requests = yield* received()
      assert.deepStrictEqual(
        requests.map(({ body, headers, method, mode, url }) => ({ method, mode, url, headers, body })),
        [
          {
            method: "OPTIONS",
            mode: "live",
            url: URL_A,
            headers: { "user-agent": "Billwright-Webhooks/1", "webhook-request-origin": ORIGIN },
            body: "",
          },
        ],
      )
    }).pipe(asking),
  )

  for (const origin of ["*", "Billing.Example.COM"]) {
    it.effect(`may allow the sender by ${origin}`, () =>
      Effect.gen(function* () {
        yield* script(URL_A, agrees(origin))
        yield* create()
      }).pipe(asking),
    )
  }

  for (const [what, behaviour, end] of [
    ["answers without the header", answers(200), "it answered 200 without this header"],
    ["allows another sender", agrees("other.example.com"), "it allowed another sender"],
    ["allows a list", agrees(`${ORIGIN}, other.example.com`), "it allowed another sender"],
    ["allows nobody", agrees(""), "it allowed another sender"],
    ["has the header on a 404", answers(404, { "webhook-allowed-origin": "*" }), "it answered 404"],
    ["redirects", answers(308, { "webhook-allowed-origin": "*", location: URL_B }), "it answered 308"],
    ["can't be reached", fails("connection_refused"), "it gave no answer (connection_refused)"],
  ] as const) {
    it.effect(`that ${what} is refused, and nothing is stored`, () =>
      Effect.gen(function* () {
        yield* script(URL_A, behaviour)
        assert.strictEqual(
          yield* refusal(create()),
          `must agree to get webhooks: it has to answer the request OPTIONS with a 2xx and the header WebHook-Allowed-Origin: ${ORIGIN} (or *), and ${end}`,
        )
        assert.deepStrictEqual([yield* none, yield* count], [0, 1])
      }).pipe(asking),
    )
  }

  it.effect("that hangs is refused after 5 seconds", () =>
    Effect.gen(function* () {
      yield* script(URL_A, hangs)
      const creating = yield* Effect.forkChild(refusal(create()))
      yield* TestClock.adjust(4_999)
      assert.isUndefined(creating.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.match(yield* Fiber.join(creating), /, and it gave no answer within 5 s$/)
    }).pipe(asking),
  )

  it.effect("that breaks a rule is not asked", () =>
    Effect.gen(function* () {
      yield* refusal(create({ url: "https://10.20.0.7/" }))
      yield* refusal(create({ url: "http://a.example.com/" }))
      yield* Effect.flip(create({ eventTypes: ["no.such"] }))
      assert.strictEqual(yield* count, 0)
    }).pipe(asking),
  )
})

describe("an update", () => {
  const update = (id: string, input: Endpoint.UpdateEndpoint) =>
    Effect.flatMap(Endpoints, (endpoints) => endpoints.update(id, input))

  it.effect("asks a new URL, and leaves the endpoint as it is when that refuses", () =>
    Effect.gen(function* () {
      yield* script(URL_A, agrees())
      const { endpoint } = yield* create()
      yield* script(URL_B, answers(204))
      yield* refusal(update(endpoint.id, { url: URL_B, description: "moved" }))
      const endpoints = yield* Endpoints
      assert.deepStrictEqual(yield* endpoints.get(endpoint.id), endpoint)
      yield* script(URL_B, agrees())
      assert.strictEqual((yield* update(endpoint.id, { url: URL_B })).url, URL_B)
      assert.strictEqual(yield* count, 3)
    }).pipe(asking),
  )

  it.effect("of other fields, or to the same URL, asks nobody", () =>
    Effect.gen(function* () {
      yield* script(URL_A, agrees())
      const { endpoint } = yield* create()
      yield* update(endpoint.id, { description: "ours", url: URL_A })
      yield* update(endpoint.id, { status: "disabled" })
      yield* update(endpoint.id, { status: "enabled" })
      assert.strictEqual(yield* count, 1)
      const error = yield* Effect.flip(update("whe_01kahd3kc8e0fsr8zknzqgf2h1", { url: URL_B }))
      assert.strictEqual(error._tag, "EndpointNotFound")
      assert.strictEqual(yield* count, 1)
    }).pipe(asking),
  )
})

describe("in a transaction", () => {
  const inside = <A, E>(effect: Effect.Effect<A, E, Endpoints | CurrentTenant>) =>
    Effect.flatMap(Transactor, (transactor) => transactor.atomically(effect))

  it.effect("no endpoint is asked, because the transaction would wait for it", () =>
    Effect.gen(function* () {
      yield* script(URL_A, agrees())
      assert.match(yield* refusal(inside(create())), /^can't be verified in a transaction/)
      assert.deepStrictEqual([yield* none, yield* count], [0, 0])
    }).pipe(asking),
  )

  it.effect("an endpoint is created whose URL was verified before, and no other", () =>
    Effect.gen(function* () {
      yield* script(URL_A, agrees())
      yield* (yield* Endpoints).verifyUrl(URL_A)
      const verified = Effect.provideService(EndpointVerification.VerifiedUrl, URL_A)
      yield* inside(create()).pipe(verified)
      yield* refusal(inside(create({ url: URL_B })).pipe(verified))
      assert.deepStrictEqual([yield* none, yield* count], [1, 1])
    }).pipe(asking),
  )
})

describe("a delivery", () => {
  it.effect("names the sender as the endpoint allowed it, and shows that in its attempt", () =>
    Effect.gen(function* () {
      yield* script(URL_A, agrees())
      yield* create()
      const event = yield* publish()
      yield* runDue
      const requests = yield* received()
      assert.strictEqual(requests.at(-1)!.headers["webhook-request-origin"], ORIGIN)
      const [attempt] = yield* attemptsOf(yield* deliveryOf(event))
      assert.strictEqual(attempt!.requestHeaders["webhook-request-origin"], ORIGIN)
    }).pipe(asking),
  )
})

describe("the name of the sender", () => {
  it("must be a host name", () => {
    for (const origin of ["billing.example.com", "billwright", "a-b.c1", "A".repeat(63)]) {
      assert.isUndefined(EndpointVerification.problemOfOrigin(origin), origin)
    }
    for (const origin of [
      "",
      "*",
      "a b",
      "https://a.example",
      "a..b",
      "-a",
      "a.",
      "a\r\nb",
      "A".repeat(64),
      "a.".repeat(127) + "a",
    ]) {
      assert.match(EndpointVerification.problemOfOrigin(origin) ?? "", /^must be a host name/, origin)
    }
  })
})
