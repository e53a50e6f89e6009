/**
 * What a store is inside.
 */
import type { Billing } from "@billwright/core"
import type { Effect, Layer } from "effect"
import type { Store } from "../Store.ts"

/** A transaction of the host's. */
export interface Joined {
  /** Runs effects inside of it. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What a call in it rejects with: an error that says what is wrong with the transaction, or what it is given. */
  readonly explain: (error: unknown) => unknown
}

/** Why the storage can't be used as it is set up. */
export interface Explanation {
  readonly problem: string
  /** What to do about it. */
  readonly advice: string
}

export interface StoreParts {
  /** Whether a transaction holds up every other call: one that is made inside of it would wait for ever. */
  readonly isSerial?: boolean
  /** Its errors become those of `createBilling`. */
  readonly layer: Layer.Layer<Billing.Storage, unknown>
  /** Throws a `ConfigurationError` when what it is given is no open transaction; absent where there are none. */
  readonly join?: (client: unknown) => Joined
  /** Why the storage failed at the start; `undefined`: it is out of reach, or the error says why. */
  readonly explain?: (failure: unknown) => Explanation | undefined
}

// Beside the store, so that its type says nothing of what it is made of.
const partsOfStores = new WeakMap<Store, StoreParts>()

export const makeStore = (kind: Store["kind"], parts: StoreParts): Store => withParts({ kind }, parts)

/** The same for a store that can do more. */
export const withParts = <S extends Store>(store: S, parts: StoreParts): S => {
  partsOfStores.set(Object.freeze(store), parts)
  return store
}

/** `undefined`: this is no store. */
export const partsOf = (store: unknown): StoreParts | undefined =>
  typeof store === "object" && store !== null ? partsOfStores.get(store as Store) : undefined
