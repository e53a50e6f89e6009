/**
 * What a dispatcher logs while the storage is out of reach.
 */
import { DeliveryStore, Dispatcher, StorageError } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { inWorld } from "./world.ts"

const DOWN = new StorageError({
  operation: "DeliveryStore.claimDue",
  retryable: true,
  cause: new Error("down"),
})

describe("an outage of the storage", () => {
  it.effect("is logged once, then after pauses that double, and so is its end", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => logged.push(String([message].flat()[0])))
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
      const began = "webhook deliveries can't be claimed, and wait for the storage"
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(logged, [began])
      // After 1 minute, 3, 7, 15 and 31 minutes.
      yield* TestClock.adjust("40 minutes")
      assert.deepStrictEqual(logged, Array(6).fill(began))
      isDown = false
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(logged.slice(6), ["webhook deliveries are claimed again"])
      isDown = true
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(logged.slice(7), [began])
    }).pipe(Effect.provide(dispatcher), inWorld(), Effect.provide(Logger.layer([logger])))
  })
})
