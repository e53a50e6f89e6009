/**
 * The headers of endpoints in the storage: sealed, bound to their place, and encrypted anew with the secrets.
 */
import {
  Billing,
  checkStoredSecrets,
  Dispatcher,
  Endpoints,
  EndpointStore,
  generateKey,
  IdGenerator,
  keyIdOf,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { ScriptedReceivers } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { acme, acmeTest, as } from "../world.ts"
import { attemptsOf, deliveryOf, newEndpoint, publish, received, runDue, URL_A, URL_B } from "./world.ts"

const TOKEN = "Bearer quill-feather-9000"
const HEADERS = { authorization: TOKEN, "x-team": "books" }

const both = (first: Redacted.Redacted<string>, second: Redacted.Redacted<string> | string) =>
  Redacted.make(`${Redacted.value(first)} ${typeof second === "string" ? second : Redacted.value(second)}`)

/** One storage, which programs with different keys use one after another. */
const makeWorld = Effect.gen(function* () {
  const shared = Layer.succeedContext(
    yield* Layer.build(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1), ScriptedReceivers.layer)),
  )
  const started = (encryption: Billing.BillingOptions["encryption"]) => {
    const options = encryption === undefined ? {} : { encryption }
    return Layer.fresh(
      Dispatcher.layerManual().pipe(
        Layer.provideMerge(Billing.layerWithIds(options)),
        Layer.provideMerge(shared),
      ),
    )
  }
  return (encryption: Billing.BillingOptions["encryption"]) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.provide(effect, started(encryption))
})

/** What is stored of the headers of an endpoint. */
const stored = (id: Parameters<EndpointStore["Service"]["find"]>[0]) =>
  Effect.flatMap(EndpointStore, (store) =>
    Effect.map(store.find(id), (found) => Option.getOrThrow(found).headers),
  )

const change = (
  id: Parameters<EndpointStore["Service"]["find"]>[0],
  headers: Readonly<Record<string, string>>,
) =>
  Effect.flatMap(EndpointStore, (store) =>
    store.modify(id, (now) => Effect.succeed({ ...now, endpoint: { ...now.endpoint, headers } })),
  )

const keyIds = (headers: Readonly<Record<string, string>>) => Object.values(headers).map(keyIdOf)

describe("the headers of an endpoint", () => {
  it.effect("are stored encrypted, and are sent and shown as they were given", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* Effect.gen(function* () {
        const { get, list, rotateSecret, update } = yield* Endpoints
        const { endpoint } = yield* newEndpoint({ headers: HEADERS })
        assert.deepStrictEqual(endpoint.headers, HEADERS)
        const first = yield* stored(endpoint.id)
        assert.deepStrictEqual(Object.keys(first), Object.keys(HEADERS))
        assert.deepStrictEqual(keyIds(first), ["k1", "k1"])
        assert.notMatch(JSON.stringify(first), /quill|books/)
        assert.deepStrictEqual((yield* get(endpoint.id)).headers, HEADERS)
        assert.deepStrictEqual((yield* list()).data[0]?.headers, HEADERS)
        assert.deepStrictEqual((yield* rotateSecret(endpoint.id)).endpoint.headers, HEADERS)
        // Without new headers, those that are stored stay.
        const described = yield* update(endpoint.id, { description: "books" })
        assert.deepStrictEqual(described.headers, HEADERS)
        assert.deepStrictEqual(yield* stored(endpoint.id), first)
        yield* publish()
        assert.strictEqual(yield* runDue, 1)
        assert.deepInclude((yield* received(URL_A))[0]?.headers, HEADERS)
        const changed = yield* update(endpoint.id, { headers: { "x-team": "sales" } })
        assert.deepStrictEqual(changed.headers, { "x-team": "sales" })
        assert.notInclude(JSON.stringify(yield* stored(endpoint.id)), "sales")
      }).pipe(as(acme), world(generateKey("k1")))
    }).pipe(Effect.scoped),
  )

  it.effect("of another endpoint, or under another name, can't be opened: nothing is sent", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* Effect.gen(function* () {
        const own = (yield* newEndpoint({ headers: HEADERS })).endpoint
        const other = (yield* newEndpoint({ url: URL_B, headers: { "x-team": "sales" } })).endpoint
        const sealed = yield* stored(own.id)
        yield* change(other.id, { "x-team": sealed["x-team"]! })
        yield* change(own.id, { "x-team": sealed["authorization"]! })
        for (const { id } of [own, other]) {
          assert.deepStrictEqual((yield* (yield* Endpoints).get(id)).headers, { "x-team": "***" })
        }
        yield* publish()
        assert.strictEqual(yield* runDue, 2)
        assert.deepStrictEqual(yield* received(), [])
      }).pipe(as(acme), world(generateKey("k1")))
    }).pipe(Effect.scoped),
  )

  it.effect("are encrypted anew with the first key, also those that were stored without encryption", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const [old, next] = [generateKey("old"), generateKey("new")]
      const { endpoint } = yield* newEndpoint({ headers: HEADERS }).pipe(as(acmeTest), world(undefined))
      assert.deepStrictEqual(yield* stored(endpoint.id).pipe(as(acmeTest), world(undefined)), {
        authorization: `plain.${TOKEN}`,
        "x-team": "plain.books",
      })
      const sealed = yield* newEndpoint({ headers: HEADERS }).pipe(as(acme), world(old))
      // As the migration leaves them: the secret was encrypted before.
      yield* change(sealed.endpoint.id, { "x-team": "plain.books" }).pipe(as(acme), world(old))

      const refused = yield* Effect.flip(checkStoredSecrets.pipe(world(both(next, old))))
      assert.include(refused.message, "a stored secret is not encrypted")
      const rotate = Effect.flatMap(Endpoints, ({ rotateEncryption }) => rotateEncryption)
      const all = both(both(next, old), "plain")
      yield* checkStoredSecrets.pipe(world(all))
      assert.strictEqual(yield* rotate.pipe(world(all)), 2)
      assert.strictEqual(yield* rotate.pipe(world(all)), 0)
      yield* checkStoredSecrets.pipe(world(next))
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(keyIds(yield* stored(endpoint.id)), ["new", "new"])
        assert.deepStrictEqual((yield* (yield* Endpoints).get(endpoint.id)).headers, HEADERS)
      }).pipe(as(acmeTest), world(next))
      const { headers } = yield* Effect.flatMap(Endpoints, ({ get }) => get(sealed.endpoint.id)).pipe(
        as(acme),
        world(next),
      )
      assert.deepStrictEqual(headers, { "x-team": "books" })
    }).pipe(Effect.scoped),
  )

  it.effect(
    "of which a key is missing are masked, are found at the start, and nothing is sent without them",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const [lost, kept] = [generateKey("lost"), generateKey("kept")]
        const { endpoint } = yield* newEndpoint({ headers: HEADERS }).pipe(as(acme), world(lost))
        yield* Effect.gen(function* () {
          // The secret is encrypted by a key that is there.
          yield* (yield* Endpoints).rotateSecret(endpoint.id, { expirePreviousAfterSeconds: 0 })
          const shown = { authorization: "***", "x-team": "***" }
          assert.deepStrictEqual((yield* (yield* Endpoints).get(endpoint.id)).headers, shown)
          const error = yield* Effect.flip(checkStoredSecrets)
          assert.strictEqual(
            error.message,
            'a secret that was encrypted with the key "lost" cannot be decrypted',
          )
          const event = yield* publish()
          assert.strictEqual(yield* runDue, 1)
          assert.deepStrictEqual(yield* received(), [])
          const [attempt] = yield* attemptsOf(yield* deliveryOf(event))
          assert.strictEqual(attempt?.error, "secret_unavailable")
          // New headers help.
          yield* (yield* Endpoints).update(endpoint.id, { headers: HEADERS })
          assert.deepStrictEqual((yield* (yield* Endpoints).get(endpoint.id)).headers, HEADERS)
          yield* checkStoredSecrets
        }).pipe(as(acme), world(kept))
      }).pipe(Effect.scoped),
  )

  it.effect("of a live endpoint can't be given without an encryption key", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const { endpoint } = yield* newEndpoint({ headers: HEADERS }).pipe(as(acme), world(generateKey("k1")))
      const update = (headers: typeof HEADERS | null) =>
        Effect.flatMap(Endpoints, (endpoints) => endpoints.update(endpoint.id, { headers })).pipe(
          as(acme),
          world(undefined),
        )
      assert.strictEqual((yield* Effect.flip(update(HEADERS)))._tag, "EncryptionKeyRequired")
      assert.deepStrictEqual((yield* update(null)).headers, {})
    }).pipe(Effect.scoped),
  )
})
