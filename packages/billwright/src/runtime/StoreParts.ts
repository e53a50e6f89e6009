/**
 * The internals of a store.
 */
import type { Billing } from "@billwright/core"
import type { Effect, Layer } from "effect"
import type { Billing as BillingOfHost } from "../Billing.ts"
import type { BillingOptions } from "../BillingOptions.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Store } from "../Store.ts"
import type { TestBilling, TestBillingOptions } from "../testing/TestBilling.ts"

/** A transaction that the host has begun. */
export interface Joined {
  /** Runs effects inside the transaction. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * Replaces an error of a call with one that says what is wrong with the transaction. Returns other errors
   * unchanged.
   */
  readonly explain: (error: unknown) => unknown
}

/** Why the storage can't be used with this setup. */
export interface Explanation {
  readonly problem: string
  /** What to do about it. */
  readonly advice: string
}

/** Starts billing. */
export interface Starter {
  readonly billing: (options: BillingOptions) => Promise<BillingOfHost<EventMap>>
  readonly testBilling: (
    options: TestBillingOptions & Pick<BillingOptions, "store">,
  ) => Promise<TestBilling<EventMap>>
}

export interface StoreParts {
  /**
   * Whether all other calls wait while a transaction is open. Then such a call inside the transaction's function
   * would wait for ever.
   */
  readonly isSerial?: boolean
  /** The layer of the storage. Its errors become those of `createBilling`. */
  readonly layer: Layer.Layer<Billing.Storage, unknown>
  /**
   * Joins a transaction of the host. Throws a `ConfigurationError` when `client` has no open transaction.
   * `undefined` for stores without such transactions.
   */
  readonly join?: (client: unknown) => Joined
  /**
   * Why the storage failed at the start. `undefined` means that it can't be reached, or that the error itself says
   * why.
   */
  readonly explain?: (failure: unknown) => Explanation | undefined
  /** What to say when the storage can't be reached at the start. Default: the database can't be reached. */
  readonly unavailable?: string
  /** Starts billing on the copy of Effect that the layer is made with. Default: the one of `createBilling`. */
  readonly starter?: Starter
}

// Kept outside the store object, so that the public type of a store doesn't show its internals.
const partsOfStores = new WeakMap<Store, StoreParts>()

export const makeStore = (kind: Store["kind"], parts: StoreParts): Store => withParts({ kind }, parts)

/** The same for a store with further methods. */
export const withParts = <S extends Store>(store: S, parts: StoreParts): S => {
  partsOfStores.set(Object.freeze(store), parts)
  return store
}

/** `undefined` when the value is not a store. */
export const partsOf = (store: unknown): StoreParts | undefined =>
  typeof store === "object" && store !== null ? partsOfStores.get(store as Store) : undefined
