/**
 * What an append sends. Records without dimensions must cost nothing for them.
 */
import { Customer, Dimensions, IdGenerator } from "@billwright/core"
import { Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as UsageAppend from "../src/stores/UsageAppend.ts"

const customerId = Customer.CustomerId.make(`cus_${"0".repeat(26)}`)

const sentDimensions = (all: ReadonlyArray<Dimensions.Dimensions>) =>
  Effect.gen(function* () {
    const tenant = yield* Sample.tenant
    const records = yield* Effect.forEach(all, (dimensions) => Sample.record(customerId, { dimensions }))
    return UsageAppend.parameters(tenant, records, [...records.keys()]).at(-1)
  }).pipe(Effect.provide(IdGenerator.layer))

describe("the dimensions of an append", () => {
  it.effect("are null when no record has any", () =>
    Effect.gen(function* () {
      assert.isNull(yield* sentDimensions([Dimensions.NONE, Dimensions.NONE, {}]))
    }),
  )

  it.effect("are null for each record that has none", () =>
    Effect.gen(function* () {
      const sent = yield* sentDimensions([Dimensions.NONE, { model: 'a"b' }, {}])
      assert.strictEqual(sent, String.raw`{NULL,"{\"model\":\"a\\\"b\"}",NULL}`)
    }),
  )
})
