/**
 * The storage port for answers to requests with an idempotency key.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"
import type { CurrentTenant } from "./Tenant.ts"

/** Identifies a request. A key belongs to one method and path of one tenant. */
export interface IdempotentRequest {
  readonly method: string
  readonly path: string
  /** The caller's Idempotency-Key. */
  readonly key: string
  /** A digest of the request's content. A request with the same key and another fingerprint is not a repeat. */
  readonly fingerprint: string
}

/** An answer as it was sent. A repeat gets the same status and the same bytes. */
export interface StoredResponse {
  readonly status: number
  /** Not empty: an empty one stands for an answer that was removed because its customer was erased. */
  readonly body: string
  /** What the body is about: a text by which `forget` and `redact` find the answer. */
  readonly subject?: string
}

/** The subject of an answer with something of a customer that is more than the customer itself, such as an invoice. */
export const subjectOfCustomer = (customerId: string): string => `of ${customerId}`

export type OnceOutcome =
  /** The effect ran, and its answer is stored with its changes. */
  | { readonly _tag: "Ran"; readonly response: StoredResponse }
  /** The request ran before. `response` is its stored answer. */
  | { readonly _tag: "Replayed"; readonly response: StoredResponse }
  /** The key was used before for a request with another fingerprint. */
  | { readonly _tag: "Reused" }
  /** A request with the key is running now. */
  | { readonly _tag: "Running" }

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /**
     * Runs `effect` once for a request, in one transaction with the row that stores its answer: both are
     * stored, or neither. When `effect` fails, no answer is stored. Rows that expired before `now` are ignored.
     *
     * Does not wait for another run of the same request: the outcome is then `Running`.
     */
    readonly once: <E, R>(
      request: IdempotentRequest,
      lifetime: { readonly now: DateTime.Utc; readonly expiresAt: DateTime.Utc },
      effect: Effect.Effect<StoredResponse, E, R>,
    ) => Effect.Effect<OnceOutcome, E | StorageError, R | CurrentTenant>

    /** Removes all answers about a subject. Joins the current transaction, if there is one. */
    readonly forget: (subject: string) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Makes the bodies of all answers about a subject empty. A repeat of such a request does not run again. Joins the current
     * transaction, if there is one.
     */
    readonly redact: (subject: string) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Removes up to `limit` rows, of all tenants, that expired before `now`. Gives how many it removed. */
    readonly sweep: (now: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  }
>()("@billwright/core/shared/IdempotencyStore") {}
