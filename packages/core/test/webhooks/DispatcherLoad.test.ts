/**
 * What a dispatcher remembers of the load of endpoints.
 */
import { type Claim, DeliveryStore, Dispatcher } from "@billwright/core"
import { Receiver } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { deliveryOf, inWorld, newEndpoint, publish, runDue, script, URL_A } from "./world.ts"

/** Runs with a dispatcher whose claims are recorded. `status` is what they say of all endpoints. */
const watching = <A, E, R>(
  use: (watched: {
    readonly limits: () => ReadonlyArray<number>
    status: "enabled" | "disabled" | "deleted"
  }) => Effect.Effect<A, E, R>,
) => {
  const claims: Array<Claim> = []
  const watched = { status: "enabled" as "enabled" | "disabled" | "deleted", limits: () => limitsOf(claims) }
  const store = Layer.effect(
    DeliveryStore,
    Effect.map(DeliveryStore, (own) =>
      DeliveryStore.of({
        ...own,
        claimDue: (claim) => {
          claims.push(claim)
          return Effect.map(own.claimDue(claim), (claimed) => ({
            ...claimed,
            deliveries: claimed.deliveries.map((each) => ({
              ...each,
              endpoint: { ...each.endpoint, status: watched.status },
            })),
          }))
        },
      }),
    ),
  )
  return use(watched).pipe(Effect.provide(Dispatcher.layerManual().pipe(Layer.provide(store))), inWorld())
}

/** How many endpoints each claim since the last call names. */
const limitsOf = (claims: Array<Claim>) => claims.splice(0).map(({ limits }) => limits.size)

describe("an endpoint that was overloaded", () => {
  it.effect.each(["disabled", "deleted"] as const)("is forgotten when a delivery finds it %s", (status) =>
    watching((watched) =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* script(URL_A, Receiver.answers(429))
        const first = yield* publish()
        yield* runDue
        assert.deepStrictEqual(watched.limits(), [0, 1])
        watched.status = status
        const refused = yield* publish()
        yield* runDue
        assert.deepStrictEqual(watched.limits(), [1, 0])
        assert.strictEqual((yield* deliveryOf(refused)).reason, `endpoint_${status}`)
        assert.strictEqual((yield* deliveryOf(first)).status, "Pending")
      }),
    ),
  )

  it.effect("is forgotten when nothing is sent to it for 10 minutes", () =>
    watching((watched) =>
      Effect.gen(function* () {
        yield* newEndpoint()
        yield* script(URL_A, Receiver.inTurn(Receiver.answers(429), Receiver.answers(410)))
        yield* publish()
        yield* runDue
        const other = yield* publish()
        yield* runDue
        assert.strictEqual((yield* deliveryOf(other)).reason, "gone")
        yield* TestClock.adjust("9 minutes")
        watched.limits()
        yield* runDue
        assert.deepStrictEqual(watched.limits(), [1])
        yield* TestClock.adjust("1 minute")
        yield* runDue
        assert.deepStrictEqual(watched.limits(), [0])
      }),
    ),
  )
})
