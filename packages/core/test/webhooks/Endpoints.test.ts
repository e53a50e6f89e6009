import {
  Billing,
  type CurrentTenant,
  Deliveries,
  DeliveryStore,
  type Endpoint,
  Endpoints,
  EndpointStore,
  generateKey,
  IdGenerator,
  type Event,
  keyIdOf,
  MAX_CANCEL,
  NetworkAddress,
  StorageError,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { acme, acmeTest, as, globex, NOON } from "../world.ts"
import {
  deliveriesOf,
  deliveryOf,
  inWorld,
  newEndpoint,
  publish,
  received,
  runDue,
  script,
  URL_A,
} from "./world.ts"

const rejected = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const UNKNOWN = "whe_01kahd3kc8e0fsr8zknzqgf2h1"

describe("Endpoints.create", () => {
  it.effect("makes an endpoint and shows its secret once", () =>
    Effect.gen(function* () {
      const { endpoint, secret } = yield* newEndpoint({ description: "ours", metadata: { team: "a" } })
      assert.match(Redacted.value(secret!), /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepStrictEqual(endpoint, {
        id: endpoint.id,
        url: URL_A,
        eventTypes: ["*"],
        description: "ours",
        headers: {},
        metadata: { team: "a" },
        signature: "hmac",
        publicKey: null,
        status: "enabled",
        disabledReason: null,
        disabledAt: null,
        failingSince: null,
        createdAt: NOON,
        updatedAt: NOON,
      } satisfies Endpoint.Endpoint)
      const endpoints = yield* Endpoints
      assert.deepStrictEqual(yield* endpoints.get(endpoint.id), endpoint)
      assert.deepStrictEqual((yield* endpoints.list()).data, [endpoint])
      assert.notInclude(String(secret), "whsec_")
    }).pipe(inWorld()),
  )

  it.effect.each<[Partial<Endpoint.CreateEndpoint>, string]>([
    [{ url: "http://a.example.com/" }, "url must use https (http is for test mode)"],
    [{ url: "https://127.0.0.1/" }, "url must not point to 127.0.0.1: it is not public"],
    [{ eventTypes: [] }, 'eventTypes must be ["*"] or 1 to 1000 different event types'],
    [{ eventTypes: ["*", "invoice.paid"] }, 'eventTypes must be ["*"] or 1 to 1000 different event types'],
    [
      { eventTypes: ["invoice.paid", "invoice.paid"] },
      'eventTypes must be ["*"] or 1 to 1000 different event types',
    ],
    [
      { eventTypes: ["invoice.paid", "invoice.payed"] },
      'eventTypes[1] is not a known event type: "invoice.payed"',
    ],
    [
      { eventTypes: ["Nonsense"] },
      'eventTypes[0] must be "*" or an event type such as invoice.paid: lower-case words joined by dots, at most 100 characters',
    ],
    [{ signature: "rsa" as "hmac" }, "signature must be hmac or ed25519"],
    [{ description: "a".repeat(501) }, "description must be 0 to 500 characters"],
    [
      { headers: { host: "a" } },
      "headers.host is not a header that can be set: names must be lower-case, and headers of HTTP itself, of the content and of the signature are reserved",
    ],
  ])("refuses %j", ([input, message]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* rejected(newEndpoint(input)), message)
      assert.deepStrictEqual((yield* (yield* Endpoints).list()).data, [])
    }).pipe(inWorld()),
  )

  it.effect("takes no loopback address in either mode unless the host allows it", () =>
    Effect.gen(function* () {
      for (const url of ["http://localhost:3000/hooks", "http://127.0.0.1:3000/hooks"]) {
        assert.strictEqual(
          yield* rejected(newEndpoint({ url }).pipe(as(acmeTest))),
          `url must not point to ${new URL(url).hostname}: sending to loopback needs allowLoopback, or --allow-loopback of billwright serve`,
        )
      }
    }).pipe(inWorld()),
  )

  it.effect("takes a loopback address in test mode alone where the host allows it", () => {
    const network = Effect.runSync(NetworkAddress.makePolicy({ allowLoopback: true }))
    return Effect.gen(function* () {
      yield* newEndpoint({ url: "http://localhost:3000/hooks" }).pipe(as(acmeTest))
      yield* Effect.flip(newEndpoint({ url: "https://localhost/hooks" }))
    }).pipe(inWorld({ webhooks: { network } }))
  })

  it.effect("refuses the 501st", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 500; i++) yield* newEndpoint()
      assert.strictEqual((yield* Effect.flip(newEndpoint()))._tag, "TooManyEndpoints")
      yield* newEndpoint().pipe(as(globex))
    }).pipe(inWorld()),
  )

  it.effect("takes no live secret without a key to encrypt it with", () => {
    const services = Layer.provide(Billing.layer, Memory.layer)
    return Effect.gen(function* () {
      assert.strictEqual(
        yield* rejected(newEndpoint().pipe(as(acme))),
        "live webhook endpoints need an encryption key for their secrets: configure one first",
      )
      yield* newEndpoint().pipe(as(acmeTest))
    }).pipe(Effect.provide(services))
  })
})

describe("Endpoints.update", () => {
  it.effect("changes what is named and keeps the rest", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint({
        description: "a",
        headers: { "x-a": "1" },
        metadata: { a: "1", b: "2" },
      })
      yield* TestClock.adjust("1 minute")
      const changed = yield* endpoints.update(endpoint.id, {
        url: "https://other.example.com/",
        eventTypes: ["invoice.paid"],
        headers: { "x-b": "2" },
        metadata: { a: null, c: "3" },
      })
      assert.deepStrictEqual(changed, {
        ...endpoint,
        url: "https://other.example.com/",
        eventTypes: ["invoice.paid"],
        headers: { "x-b": "2" },
        metadata: { b: "2", c: "3" },
        updatedAt: DateTime.add(NOON, { minutes: 1 }),
      })
      const cleared = yield* endpoints.update(endpoint.id, {
        description: null,
        headers: null,
        metadata: null,
      })
      assert.deepStrictEqual([cleared.description, cleared.headers, cleared.metadata], [null, {}, {}])
      const store = yield* EndpointStore
      yield* store.modify(endpoint.id, (stored) =>
        Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, failingSince: NOON } }),
      )
      const sinceAfter = (url: string) =>
        Effect.map(endpoints.update(endpoint.id, { url }), ({ failingSince }) => failingSince)
      // The same receiver goes on failing, another one has not failed yet.
      assert.deepStrictEqual(yield* sinceAfter("https://other.example.com/"), NOON)
      assert.strictEqual(yield* sinceAfter("https://third.example.com/"), null)
      yield* endpoints.update(endpoint.id, { url: "https://other.example.com/" })
      assert.deepStrictEqual(yield* endpoints.update(endpoint.id, {}), cleared)
      const tooMany = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, ""]))
      yield* endpoints.update(endpoint.id, { metadata: tooMany })
      assert.strictEqual(
        yield* rejected(endpoints.update(endpoint.id, { metadata: { another: "" } })),
        "metadata must have at most 50 keys",
      )
      assert.strictEqual(
        yield* rejected(endpoints.update(endpoint.id, { url: "ftp://a" })),
        "url must begin with https:// (http is for test mode)",
      )
      yield* Effect.flip(endpoints.update(UNKNOWN, {}))
    }).pipe(inWorld()),
  )

  it.effect("hands the headers of one receiver to no other", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const headers = { authorization: "Bearer of the receiver" }
      const { endpoint } = yield* newEndpoint({ url: "https://a.example.com/hooks", headers })
      const move = (url: string, change: Endpoint.UpdateEndpoint = {}) =>
        endpoints.update(endpoint.id, { url, ...change })
      for (const url of ["https://b.example.com/hooks", "https://a.example.com:8443/hooks"]) {
        assert.strictEqual(
          yield* rejected(move(url, { description: "moved" })),
          "headers must be given again, or be null to remove them: the current headers are for https://a.example.com, and the new URL has another origin",
        )
      }
      assert.deepStrictEqual(yield* endpoints.get(endpoint.id), endpoint)
      // The same server, written in other ways, too.
      for (const url of ["https://a.example.com/new", "https://A.example.com:443/new"]) {
        assert.deepStrictEqual((yield* move(url)).headers, headers)
      }
      const own = { authorization: "Bearer of another" }
      assert.deepStrictEqual((yield* move("https://b.example.com/", { headers: own })).headers, own)
      assert.deepStrictEqual((yield* move("https://c.example.com/", { headers: null })).headers, {})
      assert.strictEqual((yield* move("https://d.example.com/")).url, "https://d.example.com/")
    }).pipe(inWorld()),
  )

  it.effect("that disables ends what is pending; enabling sends nothing by itself", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      const event = yield* publish()
      const disabled = yield* endpoints.update(endpoint.id, { status: "disabled" })
      assert.deepStrictEqual(
        [disabled.status, disabled.disabledReason, disabled.disabledAt],
        ["disabled", "manual", NOON],
      )
      assert.strictEqual((yield* deliveryOf(event)).reason, "endpoint_disabled")
      const enabled = yield* endpoints.update(endpoint.id, { status: "enabled" })
      assert.deepStrictEqual([enabled.disabledReason, enabled.disabledAt], [null, null])
      assert.strictEqual(yield* runDue, 0)
      assert.deepStrictEqual(yield* received(), [])
    }).pipe(inWorld()),
  )
})

type Cancel = ReturnType<DeliveryStore["Service"]["cancel"]>

/** Endpoints over a storage of which `step` does the steps that cancel. It is told how many there were before. */
const cancelling = (step: (cancel: Cancel, before: number) => Cancel) =>
  Layer.fresh(Endpoints.layer).pipe(
    Layer.provide(
      Layer.effect(
        DeliveryStore,
        Effect.map(DeliveryStore, (store) => {
          let steps = 0
          return DeliveryStore.of({
            ...store,
            cancel: (...of) => Effect.suspend(() => step(store.cancel(...of), steps++)),
          })
        }),
      ),
    ),
  )

describe("an endpoint that is enabled again", () => {
  it.effect("while what is pending still ends, is sent what is published from then on", () =>
    Effect.gen(function* () {
      const { enable, endpoint } = yield* Effect.map(newEndpoint(), ({ endpoint }) => ({
        endpoint,
        enable: Effect.flatMap(Endpoints, ({ update }) => update(endpoint.id, { status: "enabled" })),
      }))
      const old = yield* publish()
      let later: Event.Event | undefined
      const again = Effect.gen(function* () {
        yield* Effect.orDie(enable)
        later = yield* publish()
      })
      const context = yield* Effect.context<Effect.Services<typeof again>>()
      // The first step is as long as a step can be.
      const slow = cancelling((cancel, index) =>
        index > 0
          ? cancel
          : Effect.as(Effect.andThen(cancel, Effect.provide(Effect.orDie(again), context)), MAX_CANCEL),
      )
      const disable = Effect.flatMap(Endpoints, ({ update }) => update(endpoint.id, { status: "disabled" }))
      yield* Effect.provide(disable, slow)
      assert.strictEqual((yield* deliveryOf(old)).reason, "endpoint_disabled")
      assert.strictEqual((yield* deliveryOf(later!)).status, "Pending")
      assert.strictEqual(yield* runDue, 1)
      assert.lengthOf(yield* received(), 1)
    }).pipe(inWorld()),
  )

  it.effect("is sent nothing that was left when it was disabled", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* newEndpoint()
      const old = yield* publish()
      const failure = new StorageError({ operation: "cancel", retryable: true, cause: new Error("gone") })
      const broken = cancelling(() => Effect.fail(failure))
      const disable = Effect.flatMap(Endpoints, ({ update }) => update(endpoint.id, { status: "disabled" }))
      const error = yield* Effect.flip(Effect.provide(disable, broken))
      assert.deepInclude(error, { _tag: "StorageError", isOutcomeUnknown: true })
      assert.strictEqual((yield* deliveryOf(old)).status, "Pending")
      yield* (yield* Endpoints).update(endpoint.id, { status: "enabled" })
      assert.strictEqual((yield* deliveryOf(old)).reason, "endpoint_disabled")
      assert.strictEqual(yield* runDue, 0)
    }).pipe(inWorld()),
  )
})

describe("Endpoints.delete", () => {
  it.effect("takes it away for good and keeps its history", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      const event = yield* publish()
      yield* runDue
      yield* endpoints.delete(endpoint.id)
      assert.strictEqual((yield* Effect.flip(endpoints.get(endpoint.id)))._tag, "EndpointNotFound")
      assert.strictEqual((yield* Effect.flip(endpoints.delete(endpoint.id)))._tag, "EndpointNotFound")
      assert.deepStrictEqual((yield* endpoints.list()).data, [])
      const delivery = yield* deliveryOf(event)
      assert.strictEqual(delivery.status, "Delivered")
      assert.strictEqual(
        (yield* Effect.flip((yield* Deliveries).replay(delivery.id)))._tag,
        "EndpointNotFound",
      )
    }).pipe(inWorld()),
  )

  it.effect("leaves another tenant's alone", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      for (const other of [acmeTest, globex]) {
        yield* Effect.flip(as(other)(endpoints.delete(endpoint.id)))
        yield* Effect.flip(as(other)(endpoints.update(endpoint.id, { status: "disabled" })))
        yield* Effect.flip(as(other)(endpoints.rotateSecret(endpoint.id)))
        yield* Effect.flip(as(other)(endpoints.test(endpoint.id, "invoice.paid")))
        yield* Effect.flip(
          as(other)(endpoints.replayRange(endpoint.id, { since: DateTime.subtract(NOON, { days: 1 }) })),
        )
      }
      assert.strictEqual((yield* endpoints.get(endpoint.id)).status, "enabled")
    }).pipe(inWorld()),
  )
})

describe("Endpoints.update and delete, when what is pending can't be ended", () => {
  it.effect("don't say that nothing was stored: the endpoint is changed by then", () =>
    Effect.gen(function* () {
      const memory = yield* Layer.build(Memory.layer)
      const failure = new StorageError({ operation: "DeliveryStore.cancel", retryable: true })
      const cut = Context.add(memory, DeliveryStore, {
        ...Context.get(memory, DeliveryStore),
        cancel: () => Effect.fail(failure),
      })
      const services = Billing.layerWithIds({ encryption: "none" }).pipe(
        Layer.provideMerge(Layer.merge(Layer.succeedContext(cut), IdGenerator.layerSeeded(1))),
      )
      yield* Effect.gen(function* () {
        const endpoints = yield* Endpoints
        const { endpoint } = yield* newEndpoint()
        const changes = [endpoints.update(endpoint.id, { status: "disabled" }), endpoints.delete(endpoint.id)]
        for (const change of changes) {
          const error = yield* Effect.flip(change as Effect.Effect<unknown, unknown, CurrentTenant>)
          assert.isTrue(error instanceof StorageError && error.isOutcomeUnknown && !error.retryable)
        }
        const gone = yield* rejected(endpoints.get(endpoint.id))
        assert.strictEqual(gone, `no webhook endpoint has the id ${endpoint.id}`)
      }).pipe(as(acme), Effect.provide(services))
    }).pipe(Effect.scoped),
  )
})

describe("Endpoints.rotateSecret", () => {
  const stored = (id: Endpoint.EndpointId) =>
    Effect.gen(function* () {
      let secrets: ReadonlyArray<Endpoint.EndpointSecret> = []
      yield* (yield* EndpointStore).modify(id, (found) => {
        secrets = found.secrets
        return Effect.succeed(found)
      })
      return secrets
    })

  it.effect("keeps five at most, and none that ended", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint, secret } = yield* newEndpoint()
      const rotated = yield* endpoints.rotateSecret(endpoint.id)
      assert.notStrictEqual(Redacted.value(rotated.secret!), Redacted.value(secret!))
      const [newest, previous] = yield* stored(endpoint.id)
      assert.strictEqual(newest!.expiresAt, null)
      assert.deepStrictEqual(previous!.expiresAt, DateTime.add(NOON, { days: 1 }))
      for (let i = 0; i < 6; i++) yield* endpoints.rotateSecret(endpoint.id)
      assert.strictEqual((yield* stored(endpoint.id)).length, 5)
      yield* TestClock.adjust("1 day")
      yield* endpoints.rotateSecret(endpoint.id, { expirePreviousAfterSeconds: 0 })
      assert.strictEqual((yield* stored(endpoint.id)).length, 1)
      assert.strictEqual(
        yield* rejected(endpoints.rotateSecret(endpoint.id, { expirePreviousAfterSeconds: 604_801 })),
        "expirePreviousAfterSeconds must be an integer from 0 to 604800",
      )
    }).pipe(inWorld()),
  )

  it.effect("gives an Ed25519 endpoint a new public key", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint({ signature: "ed25519" })
      const rotated = yield* endpoints.rotateSecret(endpoint.id)
      assert.strictEqual(rotated.secret, undefined)
      assert.notStrictEqual(rotated.endpoint.publicKey, endpoint.publicKey)
    }).pipe(inWorld()),
  )
})

describe("Endpoints.test", () => {
  it.effect("sends a type's example to this endpoint alone, whatever its filter", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      yield* newEndpoint()
      const { endpoint } = yield* newEndpoint({
        url: "https://only.example.com/",
        eventTypes: ["invoice.created"],
      })
      const event = yield* endpoints.test(endpoint.id, "payment.failed")
      assert.strictEqual(event.endpointId, endpoint.id)
      assert.strictEqual((yield* deliveriesOf(event)).length, 1)
      yield* runDue
      assert.deepStrictEqual(
        (yield* received()).map(({ body, url }) => [url, body]),
        [["https://only.example.com/", event.payload]],
      )
      assert.strictEqual(
        yield* rejected(endpoints.test(endpoint.id, "a.b")),
        'type is not a known event type: "a.b"',
      )
      yield* endpoints.update(endpoint.id, { status: "disabled" })
      assert.strictEqual(
        (yield* Effect.flip(endpoints.test(endpoint.id, "invoice.paid")))._tag,
        "EndpointIsDisabled",
      )
      assert.strictEqual(
        (yield* Effect.flip(endpoints.test(UNKNOWN, "invoice.paid")))._tag,
        "EndpointNotFound",
      )
    }).pipe(inWorld()),
  )
})

describe("Endpoints.replayRange", () => {
  const { answers, inTurn } = Receiver
  const oneAttempt = { dispatcher: { retries: failOnce() } }

  it.effect("sends again what failed, and not what is pending or arrived", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { endpoint } = yield* newEndpoint()
      yield* script(URL_A, inTurn(answers(500), answers(200), answers(500), answers(200)))
      const events = []
      for (let i = 0; i < 3; i++) {
        events.push(yield* publish())
        yield* runDue
        yield* TestClock.adjust("1 minute")
      }
      const since = DateTime.subtract(NOON, { minutes: 1 })
      assert.strictEqual(yield* endpoints.replayRange(endpoint.id, { since }), 2)
      // What is pending again is not sent twice.
      assert.strictEqual(yield* endpoints.replayRange(endpoint.id, { since }), 0)
      yield* runDue
      const statuses = yield* Effect.forEach(events, (event) =>
        Effect.map(deliveriesOf(event), (deliveries) => deliveries.map(({ status }) => status)),
      )
      assert.deepStrictEqual(statuses, [["Failed", "Delivered"], ["Delivered"], ["Failed", "Delivered"]])
      // The newest delivery counts: nothing failed any more.
      assert.strictEqual(yield* endpoints.replayRange(endpoint.id, { since }), 0)
      assert.strictEqual(yield* endpoints.replayRange(endpoint.id, { since, status: "all" }), 3)
    }).pipe(inWorld(oneAttempt)),
  )

  it.effect("keeps to its range and types, and to the endpoint's filter", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      for (const type of ["invoice.paid", "invoice.created", "invoice.paid"] as const) {
        yield* publish({ type })
        yield* TestClock.adjust("1 hour")
      }
      const { endpoint } = yield* newEndpoint({ eventTypes: ["invoice.paid"] })
      const replay = (input: Partial<Endpoint.ReplayRange>) =>
        endpoints.replayRange(endpoint.id, { since: NOON, status: "all", ...input })
      assert.strictEqual(yield* replay({ types: ["invoice.created"] }), 0)
      assert.strictEqual(yield* replay({ until: DateTime.add(NOON, { hours: 2 }) }), 1)
      assert.strictEqual(yield* replay({ since: DateTime.add(NOON, { hours: 2 }) }), 1)
      assert.strictEqual(yield* rejected(replay({ until: NOON })), "since must be before until")
      assert.strictEqual(
        yield* rejected(replay({ types: ["a.b"] })),
        'types[0] is not a known event type: "a.b"',
      )
      yield* endpoints.update(endpoint.id, { status: "disabled" })
      assert.strictEqual((yield* Effect.flip(replay({})))._tag, "EndpointIsDisabled")
    }).pipe(inWorld()),
  )
})

describe("Endpoints.rotateEncryption", () => {
  it.effect("encrypts anew what another key sealed, of all tenants, and nothing else changes", () =>
    Effect.gen(function* () {
      const old = generateKey("old")
      const both = Redacted.make(`${Redacted.value(generateKey("new"))} ${Redacted.value(old)}`)
      const memory = yield* Layer.build(Memory.layer)
      const ids = yield* Layer.build(IdGenerator.layerSeeded(1))
      const withKeys = (encryption: Redacted.Redacted<string>, options: Billing.BillingOptions = {}) =>
        Layer.fresh(Billing.layerWithIds({ ...options, encryption })).pipe(
          Layer.provideMerge(Layer.mergeAll(Layer.succeedContext(memory), Layer.succeedContext(ids))),
        )
      const made = yield* Effect.gen(function* () {
        const list = []
        for (const tenant of [acme, acmeTest, globex]) {
          for (let i = 0; i < 60; i++) list.push((yield* newEndpoint().pipe(as(tenant))).endpoint)
        }
        return list
      }).pipe(Effect.provide(withKeys(old)))
      yield* Effect.gen(function* () {
        const { get, rotateEncryption } = yield* Endpoints
        const counts = [yield* rotateEncryption, yield* rotateEncryption, yield* rotateEncryption]
        assert.deepStrictEqual(counts, [100, 80, 0])
        assert.deepStrictEqual(yield* get(made[0]!.id), made[0])
        yield* (yield* EndpointStore).modify(made[0]!.id, (stored) => {
          assert.deepStrictEqual(
            stored.secrets.map(({ sealed }) => keyIdOf(sealed)),
            ["new"],
          )
          return Effect.succeed(stored)
        })
      }).pipe(Effect.provide(withKeys(both)), as(acme))
    }).pipe(Effect.scoped),
  )
})

describe("Endpoints.rotateEncryption with a key missing", () => {
  it.effect("changes the others, and then says which key it is", () =>
    Effect.gen(function* () {
      const memory = yield* Layer.build(Memory.layer)
      const ids = yield* Layer.build(IdGenerator.layerSeeded(1))
      const withKeys = (encryption: Redacted.Redacted<string>) =>
        Layer.fresh(Billing.layerWithIds({ encryption })).pipe(
          Layer.provideMerge(Layer.mergeAll(Layer.succeedContext(memory), Layer.succeedContext(ids))),
        )
      const old = generateKey("old")
      yield* newEndpoint().pipe(as(acme), Effect.provide(withKeys(generateKey("lost"))))
      yield* newEndpoint().pipe(as(acme), Effect.provide(withKeys(old)))
      const keys = Redacted.make(`${Redacted.value(generateKey("new"))} ${Redacted.value(old)}`)
      const { rotateEncryption } = yield* Effect.provide(Endpoints, withKeys(keys))
      assert.strictEqual(yield* rotateEncryption, 1)
      const error = yield* Effect.flip(rotateEncryption)
      assert.strictEqual(error.message, 'a secret that was encrypted with the key "lost" cannot be decrypted')
    }).pipe(Effect.scoped),
  )
})

function failOnce() {
  const policy = { baseMillis: 1, factor: 1, capMillis: 1, maxAttempts: 1, jitter: 0 }
  return { live: policy, test: policy }
}
