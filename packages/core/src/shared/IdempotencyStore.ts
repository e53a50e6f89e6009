/**
 * Where answers to requests with an idempotency key are kept: the storage port.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"
import type { CurrentTenant } from "./Tenant.ts"

/** What identifies a request: within a tenant, the key counts for one method and path. */
export interface IdempotentRequest {
  readonly method: string
  readonly path: string
  /** The caller's Idempotency-Key. */
  readonly key: string
  /** A digest of what was asked, to tell a repeat from another request. */
  readonly fingerprint: string
}

/** An answer as it was sent: a repeat gets the same status and the same bytes. */
export interface StoredResponse {
  readonly status: number
  readonly body: string
  /** The id of the customer whose personal data the body holds. Erasing the customer forgets the answer. */
  readonly subject?: string
}

export type OnceOutcome =
  /** The effect ran, and its answer is stored with its changes. */
  | { readonly _tag: "Ran"; readonly response: StoredResponse }
  /** It ran before. */
  | { readonly _tag: "Replayed"; readonly response: StoredResponse }
  /** The key was used before for a request with another fingerprint. */
  | { readonly _tag: "Reused" }
  /** A request with the key is running now. */
  | { readonly _tag: "Running" }

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Runs `effect` once for a request, in a transaction with the row that remembers its answer: both are
     * stored, or neither. When `effect` fails nothing is remembered. Rows that expired before `now` don't count.
     *
     * Never waits for another run of the same request: it answers `Running`.
     */
    readonly once: <E, R>(
      request: IdempotentRequest,
      lifetime: { readonly now: DateTime.Utc; readonly expiresAt: DateTime.Utc },
      effect: Effect.Effect<StoredResponse, E, R>,
    ) => Effect.Effect<OnceOutcome, E | StorageError, R | CurrentTenant>

    /** Removes the answers about a customer, whatever their age. Joins the current transaction, if there is one. */
    readonly forget: (subject: string) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Removes up to `limit` rows, of all tenants, that expired before `now`; gives how many. */
    readonly sweep: (now: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  }
>()("@billwright/core/shared/IdempotencyStore") {}
