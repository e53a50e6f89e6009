/** Stores on a storage that this package doesn't know: `defineStore` of `billwright/adapter`. */
import { type Billing, Collections, StorageError, Transactor, UsageStore } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { type BillingOptions, ConfigurationError, createBilling, StorageUnavailableError } from "billwright"
import { defineStore, type StoreDefinition } from "billwright/adapter"
import { createTestBilling } from "billwright/testing"
import { Context, Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"

const options = { log: false, dispatcher: false } as const satisfies Partial<BillingOptions>

/** What a caller in plain JavaScript may pass. */
const untyped = (definition: object) => defineStore(definition as StoreDefinition)

const rejection = async (layer: StoreDefinition["layer"], more?: Partial<StoreDefinition>) => {
  const store = defineStore({ kind: "tape", layer, ...more })
  const error = await createBilling({ store, ...options }).then(
    () => assert.fail("it started"),
    (reason: unknown) => reason,
  )
  assert.instanceOf(error, Error)
  return error
}

/** Memory without one of its ports: what a compiler would refuse. */
const without = (key: { readonly key: string }): StoreDefinition["layer"] =>
  Layer.effectContext(
    Effect.map(Layer.build(Memory.layer), (context) =>
      Context.makeUnsafe<Billing.Storage>(
        new Map([...context.mapUnsafe].filter(([name]) => name !== key.key)),
      ),
    ),
  )

describe("a store of one's own", () => {
  it("has its kind, and serves all calls", async () => {
    const store = defineStore({ kind: "tape", layer: Memory.layer, isSerial: true })
    assert.strictEqual(store.kind, "tape")
    await using billing = await createBilling({ store, ...options })
    const { id } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
    await billing.transaction((tx) =>
      tx.usage.record({ customerId: id, productId: "api", quantity: 5, unit: "call" }),
    )
    assert.strictEqual((await billing.usage.summary({ customerId: id })).totalQuantity, 5n)
    assert.strictEqual((await billing.customers.get(id)).name, "Ada Lovelace")
  })

  it("begins empty with each billing, and ends with it", async () => {
    const log: Array<string> = []
    const say = (word: string) => Effect.sync(() => void log.push(word))
    const scoped = Layer.effectDiscard(Effect.acquireRelease(say("opened"), () => say("closed")))
    const store = defineStore({ kind: "tape", layer: Layer.provideMerge(scoped, Memory.layer) })
    const billing = await createBilling({ store, ...options })
    assert.deepStrictEqual(log, ["opened"])
    await billing.close()
    assert.deepStrictEqual(log, ["opened", "closed"])
  })

  it("refuses a call that would wait for the transaction it is in, when it is serial", async () => {
    const store = defineStore({ kind: "tape", layer: Memory.layer, isSerial: true })
    await using billing = await createBilling({ store, ...options })
    const inside = billing.transaction(() => billing.customers.list().page())
    const error = await inside.catch((reason: unknown) => reason)
    assert.instanceOf(error, ConfigurationError)
  })

  it("joins a transaction of the host", async () => {
    const joined: Array<unknown> = []
    const store = defineStore({
      kind: "tape",
      layer: Memory.layer,
      join: (client) => {
        if (client !== "open") throw new ConfigurationError("pass the open one")
        return {
          run: (effect) => Effect.tap(effect, () => Effect.sync(() => void joined.push(client))),
          explain: (error) => error,
        }
      },
    })
    await using billing = await createBilling({ store, ...options })
    const add = (client: object | string) =>
      billing.transaction(client as object, (tx) =>
        tx.customers.create({ name: "Ada", email: "ada@example.com" }),
      )
    assert.strictEqual((await add("open")).name, "Ada")
    assert.deepStrictEqual(joined, ["open"])
    const refusal = await add("closed").catch((reason: unknown) => reason)
    assert.instanceOf(refusal, ConfigurationError)
    assert.strictEqual((refusal as Error).message, "pass the open one")
  })

  it("serves createTestBilling, with its clock and its receivers", async () => {
    const store = defineStore({ kind: "tape", layer: Memory.layer, isSerial: true })
    await using billing = await createTestBilling({ store })
    await billing.testing.advance({ days: 1 })
    const customer = await billing.testing.customer()
    assert.strictEqual(customer.createdAt.toISOString(), "2026-01-16T12:00:00.000Z")
  })
})

describe("a definition that is wrong", () => {
  const cases: ReadonlyArray<readonly [name: string, definition: unknown, message: string]> = [
    ["nothing", undefined, "defineStore needs a definition: defineStore({ kind, layer })"],
    ["no kind", { layer: Memory.layer }, "defineStore needs kind"],
    ["no layer", { kind: "tape" }, "defineStore needs layer"],
    [
      "a kind that is no name",
      { kind: "Tape 1", layer: Memory.layer },
      "defineStore.kind must be 1 to 32 lower-case letters, digits or -",
    ],
    [
      "a layer that is none",
      { kind: "tape", layer: { get: () => undefined } },
      "defineStore.layer must be a Layer of the package effect",
    ],
    [
      "a name that is no option",
      { kind: "tape", layer: Memory.layer, serial: true },
      'defineStore has no option "serial": its options are kind, layer, isSerial, explain, join',
    ],
    [
      "isSerial that is text",
      { kind: "tape", layer: Memory.layer, isSerial: "yes" },
      "defineStore.isSerial must be true or false",
    ],
    [
      "join that is no function",
      { kind: "tape", layer: Memory.layer, join: true },
      "defineStore.join must be a function",
    ],
    [
      "explain that is no function",
      { kind: "tape", layer: Memory.layer, explain: "" },
      "defineStore.explain must be a function",
    ],
  ]
  for (const [name, definition, message] of cases) {
    it(`throws for ${name}`, () => {
      let thrown: unknown
      try {
        untyped(definition as object)
      } catch (error) {
        thrown = error
      }
      assert.instanceOf(thrown, ConfigurationError)
      assert.strictEqual((thrown as Error).message, message)
    })
  }
})

describe("a layer that can't start", () => {
  it("lacks ports: each is named", async () => {
    for (const port of [Transactor, Collections, UsageStore]) {
      const error = await rejection(without(port))
      assert.instanceOf(error, ConfigurationError)
      assert.strictEqual(
        error.message,
        `billing can't start: the store "tape" lacks ${port.key.split("/").at(-1)}: its layer must provide every port of Billing.Storage`,
      )
    }
  })

  const unreachable = new StorageError({
    operation: "Tape.open",
    retryable: true,
    cause: new Error("no tape in the drive"),
  })

  it("fails with a StorageError: it can't be reached", async () => {
    const error = await rejection(Layer.effectContext(Effect.fail(unreachable)))
    assert.instanceOf(error, StorageUnavailableError)
    assert.strictEqual(
      error.message,
      `billing can't start: the store "tape" can't be used (no tape in the drive)`,
    )
  })

  it("fails with a StorageError that the store explains", async () => {
    const explain: StoreDefinition["explain"] = ({ operation }) => ({
      problem: `${operation} found nothing`,
      advice: "insert a tape",
    })
    const error = await rejection(Layer.effectContext(Effect.fail(unreachable)), { explain })
    assert.instanceOf(error, ConfigurationError)
    assert.strictEqual(
      error.message,
      "billing can't start: Tape.open found nothing (no tape in the drive): insert a tape",
    )
  })

  it("fails or dies with an error of its own: the message names the store", async () => {
    const cause = new Error("the label is not readable")
    for (const effect of [Effect.fail(cause), Effect.die(cause)]) {
      const error = await rejection(Layer.effectContext(effect))
      assert.instanceOf(error, ConfigurationError)
      assert.strictEqual(
        error.message,
        `billing can't start: the store "tape" failed: the label is not readable`,
      )
      assert.strictEqual(error.cause, cause)
    }
  })

  it("fails with a ConfigurationError: it is passed on", async () => {
    const own = new ConfigurationError("tape({ drive }): there are drives 1 to 3")
    assert.strictEqual(await rejection(Layer.effectContext(Effect.fail(own))), own)
  })
})

it("refuses what is not a store", async () => {
  for (const store of [{ kind: "tape" }, Memory.layer, undefined]) {
    const given: object = { store, ...options }
    const error = await createBilling(given as BillingOptions).catch((reason: unknown) => reason)
    assert.instanceOf(error, ConfigurationError)
    assert.match((error as Error).message, /^store must be made by .* defineStore\(\) of billwright\/adapter/)
  }
})
