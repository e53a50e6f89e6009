/**
 * Marks for checks of spend alerts on this storage, whose transactions run at the same time.
 */
import { IdGenerator, SpendMarks, Transactor } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Storage.layer().pipe(Layer.provideMerge(TestDatabase.layerClient({ poolSize: 4 })))

layer(Layer.provideMerge(IdGenerator.layer, live), { excludeTestServices: true })(
  "marks of a customer",
  (it) => {
    it.effect("are taken by one transaction at a time, also those that are made meanwhile", () =>
      asTenant(
        Effect.gen(function* () {
          const { mark, take } = yield* SpendMarks
          const { atomically } = yield* Transactor
          const { id } = yield* Sample.customer()
          const [isTaken, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          yield* mark(id)
          const first = yield* take(id).pipe(
            Effect.tap(() => Deferred.succeed(isTaken, undefined)),
            Effect.tap(() => Deferred.await(mayEnd)),
            atomically,
            Effect.forkChild,
          )
          yield* Deferred.await(isTaken)
          yield* mark(id)
          assert.isFalse(yield* atomically(take(id)), "another transaction removes marks of this customer")
          yield* Deferred.succeed(mayEnd, undefined)
          assert.isTrue(yield* Fiber.join(first))
          assert.isTrue(yield* atomically(take(id)), "the mark that was made meanwhile is there")
          assert.isFalse(yield* atomically(take(id)))
        }),
      ),
    )
  },
)
