/**
 * Stores on a storage of your own: for authors of storage adapters.
 *
 * This entry point needs the packages `@billwright/core` and `effect`, with which adapters are written. A billing on
 * such a store runs on these two packages, and not on the copies inside `billwright`.
 */
import { type Billing, StorageError } from "@billwright/core"
import { Cause, Effect, Layer } from "effect"
import { ConfigurationError } from "./errors/RuntimeError.ts"
import { firstProblem } from "./runtime/Failure.ts"
import { startBilling } from "./runtime/Handle.ts"
import * as OptionRules from "./runtime/OptionRules.ts"
import { type Explanation, type Joined, makeStore, type Starter } from "./runtime/StoreParts.ts"
import type { Store } from "./Store.ts"

export { ConfigurationError } from "./errors/RuntimeError.ts"
export type { Explanation, Joined } from "./runtime/StoreParts.ts"
export type { Store } from "./Store.ts"

/** A storage, and what `createBilling` has to know about it. */
export interface StoreDefinition {
  /** What it stores on, such as `sqlite`: 1 to 32 lower-case letters, digits or `-`. It is part of messages. */
  readonly kind: string
  /**
   * The layer with all ports. Each `createBilling` builds it once, and `billing.close()` ends its scope. When it fails,
   * `createBilling` rejects: with a `StorageUnavailableError` for a `StorageError`, else with a `ConfigurationError`.
   */
  readonly layer: Layer.Layer<Billing.Storage, unknown>
  /**
   * Whether all other calls wait while a transaction is open, as with one connection. A call on `billing` inside a
   * transaction's function would then wait for ever, so it is refused. Default `false`.
   */
  readonly isSerial?: boolean
  /**
   * Says why the layer failed with this `StorageError`, and what to do. `createBilling` then rejects with a
   * `ConfigurationError` of these words. `undefined`: the storage can't be reached at present.
   */
  readonly explain?: (failure: StorageError) => Explanation | undefined
  /**
   * Joins a transaction that the host has begun: the first argument of `billing.transaction(client, fn)`. Throws a
   * `ConfigurationError` when `client` is not one. Left out: `billing.transaction(client, fn)` is refused.
   */
  readonly join?: (client: unknown) => Joined
}

const checkDefinition = OptionRules.fields({
  kind: OptionRules.must(
    (value) => typeof value === "string" && /^[a-z0-9-]{1,32}$/.test(value),
    "1 to 32 lower-case letters, digits or -",
  ),
  layer: OptionRules.must(Layer.isLayer, "a Layer of the package effect"),
  isSerial: OptionRules.boolean,
  explain: OptionRules.must((value) => typeof value === "function", "a function"),
  join: OptionRules.must((value) => typeof value === "function", "a function"),
})

const required = ["kind", "layer"] as const

/** Failures of the layer name the store. A `StorageError` is left to `explain`. */
const named = ({ kind, layer }: StoreDefinition): StoreDefinition["layer"] =>
  Layer.catchCause(layer, (cause) => {
    const problem = firstProblem(cause)
    if (problem === undefined || problem instanceof StorageError || problem instanceof ConfigurationError)
      return Layer.effectContext(Effect.failCause(cause))
    const words = problem instanceof Error ? problem.message : String(problem)
    const error = new ConfigurationError(`billing can't start: the store "${kind}" failed: ${words}`, {
      cause: problem,
    })
    return Layer.effectContext(Effect.failCause(Cause.fail(error)))
  })

/** Loaded by tests only. */
const testBilling: Starter["testBilling"] = async (options) => {
  const { startTest } = await import("./testing/StartTest.ts")
  return startTest(options)
}

/**
 * A store for `createBilling` on a storage of your own.
 *
 * ```ts
 * import { defineStore, type Store } from "billwright/adapter"
 *
 * export const sqlite = (path: string): Store =>
 *   defineStore({ kind: "sqlite", layer: Sqlite.layer(path), isSerial: true })
 * ```
 *
 * Throws a `ConfigurationError` that names the option when the definition is malformed. When the layer lacks a port,
 * `createBilling` rejects with a `ConfigurationError` that names the port.
 */
export const defineStore = (definition: StoreDefinition): Store => {
  if (typeof definition !== "object" || definition === null)
    throw new ConfigurationError("defineStore needs a definition: defineStore({ kind, layer })")
  checkDefinition(definition, "defineStore")
  for (const name of required) {
    if (definition[name] === undefined) throw new ConfigurationError(`defineStore needs ${name}`)
  }
  const { explain, isSerial, join, kind } = definition
  return makeStore(kind, {
    layer: named(definition),
    ...(isSerial === undefined ? {} : { isSerial }),
    ...(join === undefined ? {} : { join }),
    explain: (failure) => (failure instanceof StorageError ? explain?.(failure) : undefined),
    unavailable: `the store "${kind}" can't be used`,
    starter: { billing: startBilling, testBilling },
  })
}
