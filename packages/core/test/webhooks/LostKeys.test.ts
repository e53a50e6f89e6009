/**
 * Secrets and headers whose encryption key was lost: what has expired keeps nothing from starting, and what can't be
 * opened keeps nothing else from being encrypted again.
 */
import {
  Billing,
  checkStoredSecrets,
  type Endpoint,
  Endpoints,
  EndpointStore,
  generateKey,
  IdGenerator,
  keyIdOf,
  problemOfStoredSecrets,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { acme, as, globex, listen } from "../world.ts"
import { newEndpoint } from "./world.ts"

const [lost, old, next] = [generateKey("lost"), generateKey("old"), generateKey("new")]
const keys = (...all: ReadonlyArray<Redacted.Redacted<string>>) =>
  Redacted.make(all.map(Redacted.value).join(" "))

/** One storage, which programs with different keys use one after another. */
const makeWorld = Effect.gen(function* () {
  const shared = Layer.succeedContext(
    yield* Layer.build(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1))),
  )
  return (encryption: Redacted.Redacted<string> | "none") =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.provide(
        effect,
        Layer.fresh(Billing.layerWithIds({ encryption })).pipe(Layer.provideMerge(shared)),
      )
})

const rotateEncryption = Effect.flatMap(Endpoints, (endpoints) => endpoints.rotateEncryption)

/** A new secret for an endpoint. The ones before sign for a day. */
const rotateSecret = (id: Endpoint.EndpointId) =>
  Effect.flatMap(Endpoints, (endpoints) => endpoints.rotateSecret(id))

/** The ids of the keys that sealed the secrets and the headers of an endpoint. */
const keysOf = Effect.fnUntraced(function* (id: Endpoint.EndpointId) {
  const store = yield* EndpointStore
  const { endpoint, secrets } = Option.getOrThrow(yield* store.modify(id, Effect.succeed))
  return [secrets.map(({ sealed }) => keyIdOf(sealed)), Object.values(endpoint.headers).map(keyIdOf)]
})

/** An endpoint with a secret by the lost key, which expires in a day, and one by the old key. */
const makeRotated = Effect.fnUntraced(function* (world: Effect.Success<typeof makeWorld>) {
  const { endpoint } = yield* newEndpoint().pipe(as(acme), world(lost))
  yield* rotateSecret(endpoint.id).pipe(as(acme), world(old))
  return endpoint.id
})

describe("an expired secret whose key was lost", () => {
  it.effect("keeps no process from starting", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* makeRotated(world)
      const error = yield* Effect.flip(checkStoredSecrets.pipe(world(old)))
      assert.include(error.message, 'the key "lost"')
      yield* TestClock.adjust("1 day")
      yield* checkStoredSecrets.pipe(world(old))
    }).pipe(Effect.scoped),
  )

  it.effect("is dropped when the secrets are encrypted again, and alone is nothing to encrypt", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const id = yield* makeRotated(world)
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* rotateEncryption.pipe(world(old)), 0)
      assert.strictEqual(yield* rotateEncryption.pipe(world(keys(next, old))), 1)
      assert.deepStrictEqual(yield* keysOf(id).pipe(as(acme), world(next)), [["new"], []])
    }).pipe(Effect.scoped),
  )
})

describe("the problem of stored secrets", () => {
  const problem = problemOfStoredSecrets({ keys: "THE_KEYS", sendNothing: "send nothing" })

  it.effect("names the key and what to do, and is none when all can be opened", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* newEndpoint().pipe(as(acme), world(old))
      assert.strictEqual(yield* problem.pipe(world(keys(next, old))), undefined)
      assert.strictEqual(
        yield* problem.pipe(world(next)),
        'some webhook secrets were encrypted with the key "old", which is missing: add it to THE_KEYS after the first key, or send nothing if another process sends webhooks',
      )
      assert.strictEqual(
        yield* problemOfStoredSecrets({ keys: "THE_KEYS" }).pipe(world(generateKey("old"))),
        'some webhook secrets were encrypted with a key that has the id "old" but differs from the one in THE_KEYS, or changed or moved since: pass that key',
      )
    }).pipe(Effect.scoped),
  )

  it.effect("says how secrets that were stored without encryption become encrypted", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* newEndpoint().pipe(as(acme), world("none"))
      assert.strictEqual(
        yield* problemOfStoredSecrets({ keys: "THE_KEYS" }).pipe(world(next)),
        'some webhook secrets were stored without encryption: add "plain" to THE_KEYS after the first key, until rotate-encryption has encrypted them',
      )
    }).pipe(Effect.scoped),
  )
})

/** Makes endpoints whose secrets the old key sealed, and damages some of them. Gives the ids of these. */
const makeDamaged = Effect.fnUntraced(function* (
  world: Effect.Success<typeof makeWorld>,
  count: number,
  isDamaged: (index: number) => boolean,
) {
  // In the order in which they are looked at.
  for (let i = 0; i < count; i++) yield* newEndpoint().pipe(as(acme), world(old))
  const store = EndpointStore.pipe(world(old))
  const page = { now: yield* DateTime.now, limit: count, after: undefined }
  const all = yield* Effect.flatMap(store, ({ listSealedByOtherKeys }) => listSealedByOtherKeys([], page))
  const damaged = all.filter((_, index) => isDamaged(index)).map(({ id }) => id)
  for (const id of damaged) {
    const damage = Effect.flatMap(EndpointStore, ({ modify }) =>
      modify(id, (stored) =>
        Effect.succeed({
          ...stored,
          secrets: stored.secrets.map((secret) => ({ ...secret, sealed: secret.sealed.slice(0, -8) })),
        }),
      ),
    )
    yield* damage.pipe(as(acme), world(old))
  }
  return damaged
})

describe("a secret that was damaged", () => {
  const problem = problemOfStoredSecrets({ keys: "THE_KEYS" })

  it.effect("keeps no process from starting while its key opens others, and its endpoint is logged", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const damaged = yield* makeDamaged(world, 4, (index) => index === 0 || index === 2)
      const { logged, logger } = listen()
      const found = yield* problem.pipe(world(keys(next, old)), Effect.provide(logger))
      assert.isUndefined(found)
      assert.deepStrictEqual(logged, [
        `nothing is sent to the webhook endpoints ${damaged.join(", ")}, because a secret or a header of them was changed or moved since the key "old" encrypted it: rotate their secrets and set their headers again`,
      ])
    }).pipe(Effect.scoped),
  )

  it.effect("counts as one of another key if its key opens none of the first 10 endpoints", () =>
    Effect.gen(function* () {
      for (const last of [9, 10]) {
        const world = yield* makeWorld
        yield* makeDamaged(world, 11, (index) => index < last)
        const { logged, logger } = listen()
        const found = yield* problem.pipe(world(old), Effect.provide(logger))
        if (last === 10) assert.include(found, 'a key that has the id "old" but differs')
        else assert.isUndefined(found)
        assert.lengthOf(logged, last === 10 ? 0 : 1)
      }
    }).pipe(Effect.scoped),
  )

  it.effect("is told of a header, too", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const { endpoint } = yield* newEndpoint({ headers: { "x-a": "1" } }).pipe(as(acme), world(old))
      const damage = Effect.flatMap(EndpointStore, ({ modify }) =>
        modify(endpoint.id, (stored) => {
          const headers = { "x-a": "old.c2VhbGVk" }
          return Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, headers } })
        }),
      )
      yield* damage.pipe(as(acme), world(old))
      const { logged, logger } = listen()
      assert.isUndefined(yield* problem.pipe(world(old), Effect.provide(logger)))
      assert.lengthOf(logged, 1)
      assert.include(logged[0], endpoint.id)
    }).pipe(Effect.scoped),
  )
})

describe("what can't be opened", () => {
  it.effect("keeps no other secret or header of its endpoint from being encrypted again", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const both = keys(next, old)
      const secretLost = yield* makeRotated(world)
      const made = yield* newEndpoint({ headers: { "x-a": "1", "x-b": "2" } }).pipe(as(acme), world(old))
      const headerLost = made.endpoint.id
      const lose = Effect.flatMap(EndpointStore, (store) =>
        store.modify(headerLost, (stored) => {
          const headers = { ...stored.endpoint.headers, "x-a": "lost.c2VhbGVk" }
          return Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, headers } })
        }),
      )
      yield* lose.pipe(as(acme), world(old))
      assert.strictEqual(yield* rotateEncryption.pipe(world(both)), 2)
      assert.deepStrictEqual(yield* keysOf(secretLost).pipe(as(acme), world(next)), [["new", "lost"], []])
      assert.deepStrictEqual(yield* keysOf(headerLost).pipe(as(acme), world(next)), [
        ["new"],
        ["lost", "new"],
      ])
      const { headers } = yield* Effect.flatMap(Endpoints, ({ get }) => get(headerLost)).pipe(
        as(acme),
        world(next),
      )
      assert.deepStrictEqual(headers, { "x-a": "***", "x-b": "2" })
      // Nothing is left that can be opened.
      assert.strictEqual((yield* Effect.flip(rotateEncryption.pipe(world(both))))._tag, "SecretUnavailable")
    }).pipe(Effect.scoped),
  )

  it.effect("hides no other endpoint, however much of it there is, and at the end its number is logged", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const addLost = newEndpoint().pipe(as(acme), world(lost))
      // More than are read at a time. In this storage they come before those of the other account.
      for (let i = 0; i < 120; i++) yield* addLost
      const { endpoint } = yield* newEndpoint().pipe(as(globex), world(old))
      const rotate = rotateEncryption.pipe(world(keys(next, old)))
      const { logged, logger } = listen()
      assert.strictEqual(yield* rotate.pipe(Effect.provide(logger)), 1)
      assert.deepStrictEqual(logged, [])
      assert.deepStrictEqual(yield* keysOf(endpoint.id).pipe(as(globex), world(next)), [["new"], []])
      const error = yield* Effect.flip(rotate.pipe(Effect.provide(logger)))
      assert.include(error.message, 'the key "lost"')
      assert.deepStrictEqual(logged, ["webhook endpoints that can't be encrypted again: 120"])
    }).pipe(Effect.scoped),
  )
})
