/**
 * How the payment of an invoice is collected: the attempt that is made now or was made last, and what happens next.
 * Instants are in epoch milliseconds.
 */
import type { CollectionState } from "../invoices/Invoice.ts"

/**
 * How an attempt stands.
 *
 * - `ready`: it is decided, and nothing was sent.
 * - `sent`: it was stored before the call of the provider, and the answer is not stored yet.
 * - `unknown`: nobody knows what came of it. It may have taken the money.
 * - `processing`, `requires_action`: the provider waits, for a bank or for the customer.
 * - `succeeded`, `declined`: the provider says so.
 * - `dropped`: surely nothing happened, and it is not sent again.
 */
export type AttemptStatus =
  | "ready"
  | "sent"
  | "unknown"
  | "processing"
  | "requires_action"
  | "succeeded"
  | "declined"
  | "dropped"

/** One attempt to take the money. */
export interface Attempt {
  /** Its key at the provider: however often it is sent, it is one attempt. */
  readonly id: string
  readonly status: AttemptStatus
  /** The payment method. `null`: the default method that the provider has of the customer. */
  readonly method: string | null
  /** When it was sent first. `null` until then. */
  readonly sentAt: number | null
  /** Somebody has asked for this attempt alone: when it is declined, no other one follows by itself. */
  readonly once?: true
}

/**
 * Why a person has to look.
 *
 * - `provider_refused`: the provider refused a call for good, such as for a wrong key. Surely nothing happened.
 * - `provider_unreachable`: no call got through, as often as the schedule says. Surely nothing happened.
 * - `outcome_unknown`: nobody knows what came of the attempt, as often as it was read.
 * - `no_result`: the bank or the customer did nothing for 30 days.
 * - `closed_at_provider`: somebody has closed the payment at the provider.
 * - `not_chargeable`: the provider takes no such amount, or not this currency. Nothing was sent.
 * - `not_closed`: its money is not wanted any more, and the provider did not close it, as often as the schedule says.
 */
export type AttentionCode =
  | "provider_refused"
  | "provider_unreachable"
  | "outcome_unknown"
  | "no_result"
  | "closed_at_provider"
  | "not_closed"
  | "not_chargeable"

/** That a person has to look, and why. */
export interface Attention {
  readonly code: AttentionCode
  readonly since: number
  /** What the provider said. `null` if it said nothing. */
  readonly detail: string | null
}

/**
 * What to do after a decline. `retry`: later, with the same method. `new_method`: only with another one. `confirm`: the
 * customer has to confirm it. `stop`: not again by itself.
 */
export type DeclineAdvice = "retry" | "new_method" | "confirm" | "stop"

/** An attempt that was declined. */
export interface Decline {
  readonly method: string | null
  readonly at: number
}

/** How the payment of an invoice is collected. */
export interface Collection {
  readonly state: CollectionState
  /** The last attempt. `null` before the first one. */
  readonly attempt: Attempt | null
  /** Attempts that were declined, oldest first. */
  readonly declines: ReadonlyArray<Decline>
  /** How often in a row the attempt was read or sent in vain. */
  readonly tries: number
  /** When something happens by itself. `null`: it waits for a person, the customer or nothing. */
  readonly nextAt: number | null
  /** How often closing it at the provider has failed. */
  readonly closings?: number
  /** When it would be attempted again, while `nextAt` is when it is closed. */
  readonly retryAt?: number
  /** It was given up, and what the host has set for that is still to be done. */
  readonly isEnding?: true
  /** Why a person has to look, while it is `needs_attention`. */
  readonly attention?: Attention
}

/** Before the first attempt. */
export const IDLE: Collection = { state: "idle", attempt: null, declines: [], tries: 0, nextAt: null }

/** What a provider states about a payment. It is read again by the payment's reference as often as needed. */
export type PaymentRead =
  /** Nothing was attempted, or an attempt before the last one was declined. */
  | { readonly status: "open" }
  /** Somebody has closed it. It takes no money any more. */
  | { readonly status: "closed" }
  | { readonly status: "succeeded" }
  | { readonly status: "processing" }
  /** The customer has to confirm it. */
  | { readonly status: "requires_action" }
  | {
      readonly status: "declined"
      /** The attempt that was declined. */
      readonly attemptId: string
      /** The provider's code, such as `insufficient_funds`. */
      readonly code: string
      /** What the network or the provider advises. `null`: the code says it. */
      readonly advice: DeclineAdvice | null
      /** Not before this instant, if the network says so. */
      readonly notBefore: number | null
    }

/** What happens to a collection. */
export type CollectionInput =
  /** A new attempt is made: the first one, a retry that is due, or one that somebody asks for. */
  | {
      readonly type: "attempt"
      readonly attemptId: string
      readonly method: string | null
      /** No other attempt follows by itself when it is declined. */
      readonly once?: true
    }
  /** The customer has no payment method to attempt it with. */
  | { readonly type: "no_method" }
  /**
   * The attempt is about to be sent. It is stored so before the call. `elsewhere`: declines of the customer's methods for
   * other invoices, which count, too.
   */
  | { readonly type: "send"; readonly elsewhere?: ReadonlyArray<Decline> }
  /** What the provider answered, or said when it was read. `elsewhere`: as above, where it was declined. */
  | { readonly type: "read"; readonly read: PaymentRead; readonly elsewhere?: ReadonlyArray<Decline> }
  /**
   * A call failed. `transient` and `permanent`: surely nothing happened. `unknown`: it may have, and so it may when no
   * answer is stored in time.
   */
  | {
      readonly type: "failed"
      readonly reason: "transient" | "permanent" | "unknown"
      /** What the provider said, for people. */
      readonly message?: string
    }
  /** The provider takes no such amount. Nothing is sent. `problem` says why, for people. */
  | { readonly type: "not_chargeable"; readonly problem: string }
  /**
   * Nothing is collected any more: the invoice is void, written off or paid by other means. An attempt that may still take
   * money is only stopped once the provider has closed the payment (`isClosed`).
   */
  | { readonly type: "stop"; readonly isClosed?: true }

/** What a runner does when `nextAt` has come. */
export type CollectionStep = "attempt" | "send" | "read"
