/**
 * What a dispatcher logs while the storage is out of reach.
 */
import { DeliveryStore, Dispatcher, StorageError } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { listen } from "../world.ts"
import { deliveryOf, inWorld, newEndpoint, publish } from "./world.ts"

const DOWN = new StorageError({
  operation: "DeliveryStore.claimDue",
  retryable: true,
  cause: new Error("down"),
})

describe("a bug in a claim", () => {
  it.effect("is logged, and the next claim is made after a second", () => {
    const { logged, logger } = listen()
    let claims = 0
    const broken = Layer.effect(
      DeliveryStore,
      Effect.map(DeliveryStore, (store) =>
        DeliveryStore.of({
          ...store,
          claimDue: (claim) => (claims++ === 0 ? Effect.die(new Error("a bug")) : store.claimDue(claim)),
        }),
      ),
    )
    return Effect.gen(function* () {
      yield* newEndpoint()
      const event = yield* publish()
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* deliveryOf(event)).status, "Delivered")
        assert.deepStrictEqual(logged, [
          "webhook deliveries can't be claimed because of a bug; it is tried again",
        ])
      }).pipe(Effect.provide(Dispatcher.layerWith({}).pipe(Layer.provide(broken))))
    }).pipe(inWorld(), Effect.provide(logger))
  })
})

describe("an outage of the storage", () => {
  it.effect("is logged once, then after pauses that double, and so is its end", () => {
    const { logged, logger } = listen()
    let isDown = true
    const failing = Layer.effect(
      DeliveryStore,
      Effect.map(DeliveryStore, (store) =>
        DeliveryStore.of({
          ...store,
          claimDue: (claim) => (isDown ? Effect.fail(DOWN) : store.claimDue(claim)),
        }),
      ),
    )
    const dispatcher = Dispatcher.layerWith({}).pipe(Layer.provide(failing))
    return Effect.gen(function* () {
      const began = "webhook deliveries can't be claimed because the storage fails; it is tried again"
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(logged, [began])
      // After 1 minute, 3, 7, 15 and 31 minutes: a claim each second, of which one is logged.
      yield* TestClock.adjust("40 minutes")
      assert.deepStrictEqual(
        logged.slice(1),
        [59, 119, 239, 479, 959].map((count) => `${began} (${count} failures were not logged)`),
      )
      isDown = false
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(logged, 7)
      assert.include(logged[6], "webhook deliveries can be claimed again (")
      isDown = true
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(logged.slice(7), [began])
    }).pipe(Effect.provide(dispatcher), inWorld(), Effect.provide(logger))
  })
})
