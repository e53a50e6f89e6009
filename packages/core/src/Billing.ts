/**
 * All services of the library as one Layer over the storage ports.
 */
import { Layer } from "effect"
import { Customers } from "./customers/Customers.ts"
import type { CustomerStore } from "./customers/CustomerStore.ts"
import { ApiKeys, type ApiKeysOptions } from "./keys/ApiKeys.ts"
import type { ApiKeyStore } from "./keys/ApiKeyStore.ts"
import { IdGenerator } from "./shared/Id.ts"
import { Idempotency, type IdempotencyOptions } from "./shared/Idempotency.ts"
import type { IdempotencyStore } from "./shared/IdempotencyStore.ts"
import type { Transactor } from "./shared/Transactor.ts"
import { Thresholds } from "./usage/Thresholds.ts"
import { Usage, type UsageOptions } from "./usage/Usage.ts"
import type { UsageStore } from "./usage/UsageStore.ts"

/** What a storage adapter provides: all ports over one storage, joined by one `Transactor`. */
export type Storage = ApiKeyStore | CustomerStore | IdempotencyStore | Transactor | UsageStore

/** Everything that a host uses. */
export type Services = ApiKeys | Customers | IdGenerator | Idempotency | Thresholds | Usage

export interface BillingOptions {
  readonly keys?: ApiKeysOptions
  readonly usage?: UsageOptions
  readonly idempotency?: IdempotencyOptions
}

/** The services, over whatever storage is provided, with a source of ids of their own. */
export const layerWith = (options: BillingOptions): Layer.Layer<Services, never, Storage> =>
  layerWithIds(options).pipe(Layer.provideMerge(IdGenerator.layer))

/** The services over a given source of ids: a seeded one makes a test repeatable. */
export const layerWithIds = (
  options: BillingOptions,
): Layer.Layer<Exclude<Services, IdGenerator>, never, Storage | IdGenerator> =>
  Layer.mergeAll(
    ApiKeys.layerWith(options.keys ?? {}),
    Customers.layer,
    Idempotency.layerWith(options.idempotency ?? {}),
    Thresholds.layer,
    Usage.layerWith(options.usage ?? {}),
  )

/** The services with default options. */
export const layer: Layer.Layer<Services, never, Storage> = layerWith({})
