import {
  Delivery,
  Deliveries,
  DeliveryStore,
  Dispatcher,
  Endpoint,
  Endpoints,
  EndpointStore,
  LEASE_MILLIS,
  RetryPolicy,
  Signature,
} from "@billwright/core"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, globex, listen, NOON } from "../world.ts"
import {
  attemptsOf,
  deliveriesOf,
  deliveryOf,
  inBackground,
  inWorld,
  newEndpoint,
  publish,
  received,
  runDue,
  script,
  URL_A,
  URL_B,
} from "./world.ts"

const { answers, fails, hangs, inTurn, takes } = Receiver

/** Lets what runs in the background come as far as it can. */
const settle = Effect.gen(function* () {
  for (let i = 0; i < 500; i++) yield* Effect.yieldNow
})

describe("an attempt", () => {
  it.effect("sends the payload, signed, and makes the delivery Delivered", () =>
    Effect.gen(function* () {
      const { endpoint, secret } = yield* newEndpoint({ headers: { "x-tenant": "acme" } })
      const event = yield* publish()
      assert.strictEqual(yield* runDue, 1)
      const [request] = yield* received()
      const timestamp = NOON.epochMilliseconds / 1_000
      const signer = yield* Signature.signer(secret!)
      const signature = yield* signer({ id: event.id, timestamp, body: event.payload })
      assert.deepStrictEqual(request, {
        mode: "live",
        url: URL_A,
        headers: {
          "x-tenant": "acme",
          "content-type": "application/json",
          "user-agent": "Billwright-Webhooks/1",
          "webhook-id": event.id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": signature,
        },
        body: event.payload,
        at: NOON.epochMilliseconds,
      })
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual(delivery, {
        id: Delivery.firstDeliveryId(event.id),
        eventId: event.id,
        eventType: "invoice.paid",
        endpointId: endpoint.id,
        status: "Delivered",
        reason: null,
        attemptCount: 1,
        nextAttemptAt: null,
        lastResponseStatus: 204,
        lastError: null,
        createdAt: NOON,
        finishedAt: NOON,
      })
      assert.strictEqual(yield* runDue, 0)
    }).pipe(inWorld()),
  )

  it.effect("is recorded with what was sent and what was answered, credentials masked", () =>
    Effect.gen(function* () {
      yield* newEndpoint({ headers: { authorization: "Basic abc" } })
      yield* script(URL_A, takes(250, answers(500, { "content-type": "text/plain" }, "no <b>way</b>")))
      const event = yield* publish()
      const running = yield* Effect.forkChild(runDue, { startImmediately: true })
      yield* TestClock.adjust(250)
      yield* Fiber.join(running)
      const [attempt] = yield* attemptsOf(yield* deliveryOf(event))
      assert.deepStrictEqual(attempt, {
        number: 1,
        startedAt: NOON,
        durationMillis: 250,
        requestHeaders: {
          authorization: "***",
          "content-type": "application/json",
          "user-agent": "Billwright-Webhooks/1",
          "webhook-id": event.id,
          "webhook-timestamp": String(NOON.epochMilliseconds / 1_000),
          "webhook-signature": "***",
        },
        responseStatus: 500,
        responseHeaders: { "content-type": "text/plain" },
        responseBody: "no <b>way</b>",
        error: null,
      })
    }).pipe(inWorld()),
  )

  it.effect("is recorded without the endpoint's credentials when the receiver repeats them", () =>
    Effect.gen(function* () {
      const credential = "hunter2-hunter2"
      yield* newEndpoint({ headers: { "x-anything": `Token ${credential}` } })
      yield* script(URL_A, answers(500, { "x-echo": credential }, `you sent: ${credential}`))
      const event = yield* publish()
      yield* runDue
      const attempts = yield* attemptsOf(yield* deliveryOf(event))
      assert.strictEqual((yield* received())[0]?.headers["x-anything"], `Token ${credential}`)
      assert.notInclude(JSON.stringify(attempts), credential)
      assert.strictEqual(attempts[0]?.responseBody, "you sent: ***")
      assert.deepStrictEqual(attempts[0]?.responseHeaders, { "x-echo": "***" })
    }).pipe(inWorld()),
  )

  it.effect("is recorded without its signature when the receiver repeats it", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, ({ headers }) =>
        Effect.succeed({
          _tag: "Answered",
          status: 500,
          headers: {},
          body: JSON.stringify({ signature: headers["webhook-signature"] }),
        }),
      )
      const event = yield* publish()
      yield* runDue
      const [attempt] = yield* attemptsOf(yield* deliveryOf(event))
      assert.strictEqual(attempt?.responseBody, '{"signature":"***"}')
    }).pipe(inWorld()),
  )

  it.effect.each([100, 301, 302, 304, 400, 401, 404, 429, 500, 503, 599])(
    "fails when %i is answered",
    (status) =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* script(URL_A, answers(status))
        const event = yield* publish()
        yield* runDue
        const delivery = yield* deliveryOf(event)
        assert.deepStrictEqual([delivery.status, delivery.lastResponseStatus], ["Pending", status])
        assert.strictEqual((yield* received()).length, 1)
      }).pipe(inWorld()),
  )

  it.effect.each(Delivery.attemptErrors.slice(0, 8) as ReadonlyArray<"timeout">)("fails by %s", (error) =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, fails(error))
      const event = yield* publish()
      yield* runDue
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual(
        [delivery.status, delivery.lastResponseStatus, delivery.lastError],
        ["Pending", null, error],
      )
    }).pipe(inWorld()),
  )

  it.effect("that dies fails alone, and is tried again", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* newEndpoint({ url: URL_B })
      yield* script(
        URL_A,
        inTurn(() => Effect.die(new Error("a bug")), answers(200)),
      )
      const event = yield* publish()
      yield* runDue
      const [one, other] = yield* deliveriesOf(event)
      assert.deepStrictEqual([one!.status, one!.lastError], ["Pending", "internal_error"])
      assert.strictEqual(other!.status, "Delivered")
      yield* TestClock.adjust("7 seconds")
      yield* runDue
      assert.strictEqual((yield* deliveriesOf(event))[0]!.status, "Delivered")
    }).pipe(inWorld()),
  )

  it.effect("signs with every secret that is live, and no longer than that", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      yield* endpoints.rotateSecret(endpoint.id, { expirePreviousAfterSeconds: 60 })
      const signatures = Effect.gen(function* () {
        yield* publish()
        yield* runDue
        return (yield* received()).at(-1)!.headers["webhook-signature"]!.split(" ").length
      })
      assert.strictEqual(yield* signatures, 2)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* signatures, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* signatures, 1)
    }).pipe(inWorld()),
  )

  it.effect("signs with the secrets that open, and fails only when none does", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const { endpoint } = yield* newEndpoint()
      const spoil = (count: number) =>
        store.modify(endpoint.id, ({ endpoint: kept, secrets }) =>
          Effect.succeed({
            endpoint: kept,
            secrets: secrets.map((secret, i) => (i < count ? { ...secret, sealed: "lost.AAAA" } : secret)),
          }),
        )
      yield* (yield* Endpoints).rotateSecret(endpoint.id)
      yield* spoil(1)
      const event = yield* publish()
      yield* runDue
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.match((yield* received())[0]!.headers["webhook-signature"]!, /^v1,\S+$/)
      yield* spoil(2)
      const another = yield* publish()
      yield* runDue
      assert.strictEqual((yield* deliveryOf(another)).lastError, "secret_unavailable")
      // That is our fault, not the endpoint's.
      assert.isNull((yield* (yield* Endpoints).get(endpoint.id)).failingSince)
      assert.strictEqual((yield* received()).length, 1)
    }).pipe(inWorld()),
  )

  it.effect("names an endpoint whose key is lost, and what to do, once for many attempts", () => {
    const { logged, logger } = listen()
    return Effect.gen(function* () {
      const store = yield* EndpointStore
      const { endpoint } = yield* newEndpoint()
      yield* store.modify(endpoint.id, ({ endpoint: kept, secrets }) =>
        Effect.succeed({
          endpoint: kept,
          secrets: secrets.map((secret) => ({ ...secret, sealed: "lost.AAAA" })),
        }),
      )
      const sentence = `nothing is sent to the webhook endpoint ${endpoint.id}, because its secret or a header was encrypted with the key "lost", which is missing: add it to the encryption keys after the first key, and start again; if the key is lost, rotate the secret of the endpoint and set its headers again`
      for (let i = 0; i < 3; i++) yield* publish()
      assert.strictEqual(yield* runDue, 3)
      assert.deepStrictEqual(logged, [sentence])
      yield* TestClock.adjust("1 minute")
      yield* publish()
      yield* runDue
      assert.match(logged[1] ?? "", /again \(\d+ failures were not logged\)$/)
      assert.lengthOf(logged, 2)
    }).pipe(inWorld(), Effect.provide(logger))
  })

  it.effect("of an Ed25519 endpoint has a v1a signature", () =>
    Effect.gen(function* () {
      const { endpoint, secret } = yield* newEndpoint({ signature: "ed25519" })
      assert.strictEqual(secret, undefined)
      assert.match(endpoint.publicKey!, /^whpk_/)
      yield* publish()
      yield* runDue
      assert.match((yield* received())[0]!.headers["webhook-signature"]!, /^v1a,[A-Za-z0-9+/]{86}==$/)
    }).pipe(inWorld()),
  )
})

describe("the schedule", () => {
  it.effect("runs for 54 hours in live mode and ends Failed (exhausted)", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, answers(500))
      const event = yield* publish()
      const statuses: Array<string> = []
      for (;;) {
        yield* runDue
        const { nextAttemptAt, status } = yield* deliveryOf(event)
        statuses.push(status)
        if (nextAttemptAt === null) break
        yield* TestClock.setTime(nextAttemptAt.epochMilliseconds - 1)
        assert.strictEqual(yield* runDue, 0)
        yield* TestClock.adjust(1)
      }
      assert.deepStrictEqual(statuses, [...Array<string>(9).fill("Pending"), "Failed"])
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual([delivery.reason, delivery.attemptCount], ["exhausted", 10])
      const requests = yield* received()
      const delays = requests.slice(1).map((request, i) => request.at - requests[i]!.at)
      delays.forEach((delay, i) => {
        const expected = RetryPolicy.delayMillis(RetryPolicy.live, i + 1, 0.5)
        assert.isTrue(Math.abs(delay - expected) <= expected * 0.2 + 1, `delay ${i + 1} is ${delay}`)
      })
      const attempts = yield* attemptsOf(delivery)
      assert.deepStrictEqual(
        attempts.map(({ number }) => number),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      )
      // The same event in the same bytes each time, signed anew.
      assert.strictEqual(new Set(requests.map(({ body }) => body)).size, 1)
      assert.strictEqual(new Set(requests.map(({ headers }) => headers["webhook-id"])).size, 1)
      assert.strictEqual(new Set(requests.map(({ headers }) => headers["webhook-signature"])).size, 10)
    }).pipe(inWorld()),
  )

  it.effect("is that of the mode", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, answers(500))
      const event = yield* publish()
      for (let i = 0; i < 5; i++) {
        yield* runDue
        yield* TestClock.adjust("15 seconds")
      }
      assert.strictEqual((yield* deliveryOf(event)).status, "Failed")
      assert.strictEqual((yield* received()).length, 5)
    }).pipe(as(acmeTest), inWorld()),
  )

  it.effect("may be a host's own", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, answers(500))
      const event = yield* publish()
      yield* runDue
      assert.strictEqual((yield* deliveryOf(event)).reason, "exhausted")
    }).pipe(
      inWorld({
        dispatcher: { retries: { ...RetryPolicy.defaults, live: { ...RetryPolicy.live, maxAttempts: 1 } } },
      }),
    ),
  )

  it.effect.each<[number, Record<string, string>, number]>([
    [429, { "retry-after": "3600" }, 3_600_000],
    [503, { "retry-after": "Sat, 21 Nov 2026 14:00:00 GMT" }, 7_200_000],
    [503, { "retry-after": "Saturday, 21-Nov-26 14:00:00 GMT" }, 7_200_000],
    [503, { "retry-after": "Sat Nov 21 14:00:00 2026" }, 7_200_000],
    [429, { "retry-after": "999999" }, 86_400_000],
  ])("waits as %i asks to by %j", ([status, headers, millis]) =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, answers(status, headers))
      const event = yield* publish()
      yield* runDue
      const { nextAttemptAt } = yield* deliveryOf(event)
      assert.strictEqual(nextAttemptAt!.epochMilliseconds - NOON.epochMilliseconds, millis)
    }).pipe(inWorld()),
  )

  it.effect("heeds Retry-After of no other answer", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, answers(500, { "retry-after": "3600" }))
      const event = yield* publish()
      yield* runDue
      const { nextAttemptAt } = yield* deliveryOf(event)
      assert.isBelow(nextAttemptAt!.epochMilliseconds - NOON.epochMilliseconds, 6_001)
    }).pipe(inWorld()),
  )
})

describe("an endpoint", () => {
  it.effect("that answers 410 is disabled, with all that is pending for it", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, inTurn(answers(500), answers(410)))
      const first = yield* publish()
      yield* runDue
      const second = yield* publish()
      yield* runDue
      const got = yield* (yield* Endpoints).get(endpoint.id)
      assert.deepStrictEqual([got.status, got.disabledReason, got.disabledAt], ["disabled", "gone", NOON])
      const [one, two] = [yield* deliveryOf(first), yield* deliveryOf(second)]
      assert.deepStrictEqual([one.status, one.reason], ["Failed", "endpoint_disabled"])
      assert.deepStrictEqual([two.status, two.reason], ["Failed", "gone"])
      assert.deepStrictEqual(yield* deliveriesOf(yield* publish()), [])
    }).pipe(inWorld()),
  )

  it.effect("is not disabled by the 410 of a receiver that it had before", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, takes(4_000, answers(410)))
      const event = yield* publish()
      const running = yield* Effect.forkChild(runDue, { startImmediately: true })
      yield* TestClock.adjust(1_000)
      yield* endpoints.update(endpoint.id, { url: URL_B })
      yield* TestClock.adjust(3_000)
      yield* Fiber.join(running)
      const { failingSince, status } = yield* endpoints.get(endpoint.id)
      assert.deepStrictEqual([status, failingSince], ["enabled", null])
      assert.strictEqual((yield* deliveryOf(event)).reason, "gone")
      const another = yield* publish()
      yield* runDue
      assert.strictEqual((yield* deliveryOf(another)).status, "Delivered")
    }).pipe(inWorld()),
  )

  it.effect("is not disabled when a success was counted, though its mark was lost", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      yield* publish()
      yield* runDue
      // As a success leaves it whose mark could not be written, because somebody held the endpoint.
      const lost = DateTime.subtract(NOON, { days: 6 })
      yield* (yield* EndpointStore).modify(endpoint.id, (stored) =>
        Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, failingSince: lost } }),
      )
      yield* script(URL_A, answers(500))
      yield* publish()
      yield* runDue
      const { failingSince, status } = yield* (yield* Endpoints).get(endpoint.id)
      assert.deepStrictEqual([status, failingSince], ["enabled", NOON])
    }).pipe(inWorld()),
  )

  it.effect("with nothing but failures for 5 days is disabled; a success in between begins anew", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      const endpoints = yield* Endpoints
      const attemptAfter = Effect.fnUntraced(function* (days: number, status: number) {
        yield* TestClock.adjust(`${days} days`)
        yield* script(URL_A, answers(status))
        yield* publish()
        yield* runDue
        return yield* endpoints.get(endpoint.id)
      })
      assert.deepStrictEqual((yield* attemptAfter(0, 500)).failingSince, NOON)
      assert.strictEqual((yield* attemptAfter(4, 200)).failingSince, null)
      const since = (yield* attemptAfter(1, 500)).failingSince
      assert.strictEqual(since?.epochMilliseconds, NOON.epochMilliseconds + 5 * 86_400_000)
      assert.strictEqual((yield* attemptAfter(4, 500)).status, "enabled")
      const disabled = yield* attemptAfter(1, 500)
      assert.deepStrictEqual([disabled.status, disabled.disabledReason], ["disabled", "failing"])
      const enabled = yield* endpoints.update(endpoint.id, { status: "enabled" })
      assert.deepStrictEqual([enabled.status, enabled.failingSince], ["enabled", null])
    }).pipe(inWorld()),
  )

  it.effect("that is deleted gets nothing more", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, answers(500))
      const event = yield* publish()
      yield* runDue
      yield* (yield* Endpoints).delete(endpoint.id)
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* runDue, 0)
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual([delivery.status, delivery.reason], ["Failed", "endpoint_deleted"])
    }).pipe(inWorld()),
  )

  it.effect("that is deleted during an attempt keeps the request in its history", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, takes(5_000, answers(200)))
      const event = yield* publish()
      const running = yield* Effect.forkChild(runDue, { startImmediately: true })
      yield* settle
      yield* (yield* Endpoints).delete(endpoint.id)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(running)
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual([delivery.status, delivery.reason], ["Failed", "endpoint_deleted"])
      assert.deepStrictEqual(
        (yield* attemptsOf(delivery)).map(({ error }) => error),
        ["unknown"],
      )
    }).pipe(inWorld()),
  )

  it.effect("gets the types that it asked for, of its own mode", () =>
    Effect.gen(function* () {
      yield* newEndpoint({ eventTypes: ["invoice.created"] })
      yield* newEndpoint({ url: URL_B, eventTypes: ["invoice.paid", "payment.failed"] })
      yield* newEndpoint({ url: "https://test.example.com/" }).pipe(as(acmeTest))
      yield* publish()
      yield* runDue
      assert.deepStrictEqual(
        (yield* received()).map(({ url }) => url),
        [URL_B],
      )
    }).pipe(inWorld()),
  )
})

describe("a lease", () => {
  const claimAndLose = Effect.gen(function* () {
    const store = yield* DeliveryStore
    const now = yield* DateTime.now
    const leaseUntil = DateTime.add(now, { milliseconds: LEASE_MILLIS })
    return yield* store.claimDue({
      now,
      leaseUntil,
      limit: 10,
      limitPerEndpoint: 10,
      limits: new Map(),
      tenantLimits: [],
    })
  })

  it.effect("that ends without a result is a lost attempt, and the delivery goes on", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      yield* claimAndLose
      yield* TestClock.adjust(LEASE_MILLIS - 1)
      assert.strictEqual(yield* runDue, 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* runDue, 1)
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual([delivery.status, delivery.attemptCount], ["Delivered", 2])
      assert.deepStrictEqual(
        (yield* attemptsOf(delivery)).map(({ error, number, responseStatus }) => [
          number,
          error,
          responseStatus,
        ]),
        [
          [1, "unknown", null],
          [2, null, 204],
        ],
      )
    }).pipe(inWorld()),
  )

  it.effect("that is lost again and again exhausts the attempts without sending", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      for (let i = 0; i < 10; i++) {
        yield* claimAndLose
        yield* TestClock.adjust(LEASE_MILLIS)
      }
      yield* runDue
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual(
        [delivery.status, delivery.reason, delivery.attemptCount],
        ["Failed", "exhausted", 10],
      )
      assert.deepStrictEqual(yield* received(), [])
    }).pipe(inWorld()),
  )
})

describe("fairness", () => {
  it.effect("gives one endpoint 8 attempts at a time, and the others theirs", () =>
    Effect.gen(function* () {
      yield* newEndpoint({ eventTypes: ["invoice.paid"] })
      yield* newEndpoint({ url: URL_B, eventTypes: ["invoice.created"] })
      yield* script(URL_A, hangs)
      for (let i = 0; i < 20; i++) yield* publish()
      for (let i = 0; i < 20; i++) yield* publish({ type: "invoice.created" })
      const dispatcher = yield* Dispatcher
      const running = yield* Effect.forkChild(dispatcher.runDue, { startImmediately: true })
      yield* settle
      assert.strictEqual((yield* received(URL_A)).length, 8)
      assert.strictEqual(yield* dispatcher.inFlight, 8)
      yield* Fiber.interrupt(running)
    }).pipe(inWorld()),
  )

  it.effect("lets receivers that hang starve nobody in the background", () =>
    Effect.gen(function* () {
      const hanging = Array.from({ length: 20 }, (_, i) => `https://hang-${i}.example.com/`)
      for (const url of hanging) {
        yield* newEndpoint({ url, eventTypes: ["invoice.paid"] })
        yield* script(url, takes(12_000, answers(200)))
      }
      yield* newEndpoint({ url: URL_B, eventTypes: ["invoice.created"] })
      for (let i = 0; i < 10; i++) yield* publish()
      yield* settle
      yield* TestClock.adjust("1 second") // 64 are under way, and have now stalled
      yield* settle
      for (let i = 0; i < 30; i++) yield* publish({ type: "invoice.created" })
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual((yield* received(URL_B)).length, 30)
      for (const url of hanging) assert.isAtMost((yield* received(url)).length, 8)
      for (let i = 0; i < 4; i++) yield* Effect.andThen(TestClock.adjust("10 seconds"), settle)
    }).pipe(inBackground()),
  )

  it.effect(
    "lets 500 receivers of one tenant that hang delay no other tenant by more than the second that it takes to see them",
    () =>
      Effect.gen(function* () {
        const dispatcher = yield* Dispatcher
        const hanging = Array.from(
          { length: Endpoint.MAX_ENDPOINTS },
          (_, i) => `https://hang-${i}.example.com/`,
        )
        for (const url of hanging) {
          yield* newEndpoint({ url })
          yield* script(url, takes(14_000, fails("timeout")))
        }
        yield* newEndpoint({ url: URL_B }).pipe(as(globex))
        const waited: Array<number> = []
        let most = 0
        for (let round = 0; round < 20; round++) {
          // Due before all that the other tenant publishes.
          yield* publish()
          yield* settle
          yield* publish().pipe(as(globex))
          yield* settle
          let seconds = 0
          while ((yield* received(URL_B)).length <= round) {
            yield* Effect.andThen(TestClock.adjust("500 millis"), settle)
            seconds += 0.5
          }
          waited.push(seconds)
          most = Math.max(most, yield* dispatcher.inFlight)
          yield* Effect.andThen(TestClock.adjust("2 seconds"), settle)
        }
        assert.isAtMost(Math.max(...waited), 2, `seconds: ${waited.join(", ")}`)
        // 288 of them are tried first, and the others when those have timed out. Once they are known to hang, they hold up
        // nobody.
        assert.strictEqual(Math.max(...waited.slice(8)), 0, `seconds: ${waited.join(", ")}`)
        // What the other tenant leaves is used: 64, and half of the 448 places for those that stall.
        assert.isAbove(most, 250)
        assert.isAtMost(most, 64 + 448 / 2 + 1)
        for (const url of hanging) yield* script(url, answers(200))
        for (let i = 0; i < 4; i++) yield* Effect.andThen(TestClock.adjust("10 seconds"), settle)
      }).pipe(inBackground()),
    60_000,
  )

  it.effect("lets a tenant whose receivers hang take its places again as they answer", () =>
    Effect.gen(function* () {
      const dispatcher = yield* Dispatcher
      const urls = Array.from({ length: 10 }, (_, i) => `https://slow-${i}.example.com/`)
      for (const url of urls) {
        yield* newEndpoint({ url })
        yield* script(url, takes(5_000, answers(200)))
      }
      yield* publish()
      yield* settle
      // 4, and half of the 4 places for those that stall.
      for (let second = 0; second < 4; second++) {
        yield* Effect.andThen(TestClock.adjust("1 second"), settle)
      }
      assert.strictEqual(yield* dispatcher.inFlight, 4 + 2)
      assert.strictEqual((yield* received()).length, 6)
      // The first ones end, and others follow at once: a claim waits for half of the 4 places.
      yield* Effect.andThen(TestClock.adjust("1 second"), settle)
      assert.isAtLeast((yield* received()).length, 6 + 3)
      yield* Effect.andThen(TestClock.adjust("10 seconds"), settle)
    }).pipe(inBackground({ maxInFlight: 4, maxStalled: 4 })),
  )

  it.effect("halves what an overloaded endpoint gets at once, down to one", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, takes(100, answers(429)))
      for (let i = 0; i < 40; i++) yield* publish()
      const atOnce: Array<number> = []
      const running = yield* Effect.forkChild(runDue, { startImmediately: true })
      for (let i = 0; i < 3; i++) {
        const before = (yield* received()).length
        yield* settle
        atOnce.push((yield* received()).length - before)
        yield* TestClock.adjust(100)
        yield* settle
      }
      yield* Fiber.interrupt(running)
      assert.isAtMost((yield* received()).length, 8 + 1 + 1 + 1)
    }).pipe(inWorld()),
  )
})

describe("in the background", () => {
  it.effect("sends at once what is published", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      yield* settle
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
    }).pipe(inBackground()),
  )

  it.effect("sends again what is due, within a second", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, inTurn(answers(500), answers(200)))
      const event = yield* publish()
      yield* settle
      const { nextAttemptAt } = yield* deliveryOf(event)
      yield* TestClock.setTime(nextAttemptAt!.epochMilliseconds + 1_000)
      yield* settle
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
    }).pipe(inBackground()),
  )

  it.effect("ends what is under way before it stops", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, takes(3_000, answers(200)))
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Dispatcher.layer, scope)
      const event = yield* publish()
      yield* settle
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      const late = yield* publish()
      yield* TestClock.adjust("3 seconds")
      yield* settle
      yield* Fiber.join(closing)
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
      assert.strictEqual((yield* deliveryOf(late)).status, "Pending")
      assert.strictEqual((yield* received()).length, 1)
    }).pipe(inWorld()),
  )

  it.effect("stops within 5 seconds, though storage does not answer a claim", () =>
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      const silent = Layer.succeed(DeliveryStore, { ...store, claimDue: () => Effect.never })
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Dispatcher.layer.pipe(Layer.provide(silent)), scope)
      yield* settle
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.isDefined(closing.pollUnsafe())
    }).pipe(inWorld()),
  )

  it.effect("makes no claim within the call that publishes, but soon after it", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const store = yield* DeliveryStore
      let claims = 0
      const counting = Layer.succeed(DeliveryStore, {
        ...store,
        claimDue: (claim) => {
          claims++
          return store.claimDue(claim)
        },
      })
      yield* Layer.build(Dispatcher.layer.pipe(Layer.provide(counting)))
      yield* settle
      const before = claims
      const event = yield* publish()
      assert.strictEqual(claims, before)
      yield* settle
      assert.isAbove(claims, before)
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
    }).pipe(Effect.scoped, inWorld()),
  )

  it.effect("gives up after 4 seconds what doesn't end, and leaves it to others at once", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, inTurn(hangs, answers(200)))
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Dispatcher.layer, scope)
      const event = yield* publish()
      yield* settle
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(closing)
      const delivery = yield* deliveryOf(event)
      assert.deepStrictEqual(
        [delivery.status, delivery.attemptCount, delivery.lastError],
        ["Pending", 1, "unknown"],
      )
      assert.strictEqual(delivery.nextAttemptAt?.epochMilliseconds, NOON.epochMilliseconds + 4_000)
      yield* runDue
      assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
    }).pipe(inWorld()),
  )

  it.effect("ends a run at once when it closes, and leaves the rest to others", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      yield* script(URL_A, inTurn(hangs, answers(200)))
      const [first, second] = [yield* publish(), yield* publish()]
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Dispatcher.layerManual({ maxInFlight: 1 }), scope)
      const running = yield* Effect.forkChild(Effect.provide(runDue, context), { startImmediately: true })
      yield* settle
      assert.lengthOf(yield* received(), 1)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* settle
      assert.isDefined(closing.pollUnsafe())
      assert.strictEqual(yield* Fiber.join(running), 1)
      const { attemptCount, lastError, status } = yield* deliveryOf(first)
      assert.deepStrictEqual([status, attemptCount, lastError], ["Pending", 1, "unknown"])
      const { attemptCount: ofSecond } = yield* deliveryOf(second)
      assert.strictEqual(ofSecond, 0)
      assert.strictEqual(yield* runDue, 2)
      assert.lengthOf(yield* received(), 3)
    }).pipe(inWorld()),
  )
})

describe("replay", () => {
  it.effect("sends the same id and bytes on a fresh schedule, and leaves the old delivery", () =>
    Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      yield* runDue
      const first = yield* deliveryOf(event)
      yield* TestClock.adjust("1 hour")
      const again = yield* (yield* Deliveries).replay(first.id)
      assert.deepStrictEqual([again.status, again.attemptCount, again.eventId], ["Pending", 0, event.id])
      yield* runDue
      const [old, made] = yield* deliveriesOf(event)
      assert.deepStrictEqual(old, first)
      assert.deepStrictEqual([made!.id, made!.status], [again.id, "Delivered"])
      const [one, two] = yield* received()
      assert.strictEqual(one!.body, two!.body)
      assert.strictEqual(one!.headers["webhook-id"], two!.headers["webhook-id"])
      assert.notStrictEqual(one!.headers["webhook-timestamp"], two!.headers["webhook-timestamp"])
    }).pipe(inWorld()),
  )
})

describe("a transport", () => {
  it.effect("is told the mode, so that it can be strict", () =>
    Effect.gen(function* () {
      yield* newEndpoint({ url: "http://a.example.com/" })
      yield* publish()
      yield* runDue
      assert.strictEqual((yield* received())[0]!.mode, "test")
    }).pipe(as(acmeTest), inWorld()),
  )
})
