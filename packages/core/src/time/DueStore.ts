/**
 * The storage port of billing runs: the queue of what is due by itself: subscriptions, invoices and others.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CreditGrantId } from "../credits/Credit.ts"
import type { AutoTopUpId } from "../credits/TopUp.ts"
import type { CustomerId } from "../customers/Customer.ts"
import type { TestClockId } from "../customers/TestClock.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { ApiKeyId } from "../keys/ApiKey.ts"
import type { PaymentId } from "../payments/Payment.ts"
import type { PaymentMethodId } from "../payments/PaymentMethod.ts"
import type { RefundId } from "../payments/Refund.ts"
import type { DueFailure } from "../shared/Due.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant, Tenant } from "../shared/Tenant.ts"
import type { BookCheckId } from "./BookCheck.ts"
import type { PlanMigrationId } from "./PlanMigration.ts"

/** Most subjects of one claim. */
export const MAX_CLAIMED_SUBJECTS = 500

/** On what something is due. */
export type Subject =
  | { readonly kind: "subscription"; readonly id: SubscriptionId }
  | { readonly kind: "invoice"; readonly id: InvoiceId }
  | { readonly kind: "payment"; readonly id: PaymentId }
  | { readonly kind: "payment_method"; readonly id: PaymentMethodId }
  /** What is left to do after a customer was erased. */
  | { readonly kind: "erasure"; readonly id: CustomerId }
  | { readonly kind: "plan_migration"; readonly id: PlanMigrationId }
  | { readonly kind: "refund"; readonly id: RefundId }
  | { readonly kind: "auto_top_up"; readonly id: AutoTopUpId }
  /** Paid credits that begin or end. */
  | { readonly kind: "credit_grant"; readonly id: CreditGrantId }
  /** The reminder of a key that expires. */
  | { readonly kind: "api_key"; readonly id: ApiKeyId }
  | { readonly kind: "book_check"; readonly id: BookCheckId }
  | { readonly kind: "test_clock"; readonly id: TestClockId }

/** What is put in the queue by `schedule`, in real time and without a customer. */
export type ScheduledSubject = Extract<
  Subject,
  {
    readonly kind:
      | "api_key"
      | "auto_top_up"
      | "book_check"
      | "credit_grant"
      | "erasure"
      | "payment_method"
      | "plan_migration"
      | "refund"
      | "test_clock"
  }
>

/**
 * Subjects are claimed in two lanes, so that a payment provider that is slow holds up nothing else.
 *
 * - `billing`: invoices, subscriptions and migrations of plans. Most of that is done within the storage.
 * - `calls`: all others. The work of most calls a payment provider: payments, refunds, and test clocks with their payments.
 */
export type Lane = "billing" | "calls"

export const LANES: ReadonlyArray<Lane> = ["billing", "calls"]

/** The lane of a subject. */
export const laneOf = ({ kind }: Subject): Lane =>
  kind === "invoice" || kind === "plan_migration" || kind === "subscription" ? "billing" : "calls"

/** A subject that a runner has leased. */
export interface ClaimedSubject {
  readonly tenant: Tenant
  readonly subject: Subject
  /** `null` for what is in the queue of its own accord. */
  readonly customerId: CustomerId | null
  /** When the earliest thing is due, in epoch milliseconds. */
  readonly dueAt: number
  /** How often it has failed in a row. */
  readonly attempts: number
  /** Identifies the lease: a random UUID. Each claim of a subject gets a new one. */
  readonly token: string
}

export interface DueClaim {
  /** What is claimed. */
  readonly lane: Lane
  readonly now: DateTime.Utc
  /** When the leases end. */
  readonly leaseUntil: DateTime.Utc
  /** Most subjects of the claim: 1 to `MAX_CLAIMED_SUBJECTS`. */
  readonly limit: number
}

/** The first subject of a test clock on which something is due. */
export interface FirstDue {
  readonly subject: Exclude<Subject, ScheduledSubject>
  /** When it can be worked on: when it is due, or tried again. In epoch milliseconds, by the test clock. */
  readonly at: number
  /** How often it has failed in a row. */
  readonly attempts: number
}

/** Most subjects that `ofCustomer` gives. */
export const MAX_SUBJECTS_OF_CUSTOMER = 100

/** A subscription or an invoice of a customer on which something is due. */
export interface CustomerDue {
  readonly subject: Extract<Subject, { readonly kind: "subscription" | "invoice" }>
  /** When the earliest thing is due, in epoch milliseconds. */
  readonly dueAt: number
  /** When it is tried again after its last failure, in epoch milliseconds. `null`: it has not failed. */
  readonly retryAt: number | null
  /** How often it has failed in a row. */
  readonly attempts: number
}

/** How much is due by an instant. */
export interface DueCounts {
  readonly subscriptions: number
  readonly invoices: number
  /** How many further subjects are set aside. */
  readonly setAside: number
}

/**
 * A subject is due when its `dueAt` has come, the `retryAt` of its failure, if it has one, has come too, and nobody holds
 * a lease on it. One that is set aside (`retryAt` is `null`) is not due.
 *
 * A subject of a customer with a test clock (`testClockId`) is due by that clock. `claimDue`, `nextDueAt` and `countDue`
 * leave it out, and `firstDue` finds it. The customer's test clock is the one that it has when the subject is stored.
 *
 * `claimDue`, `nextDueAt` and `countDue` act for all tenants, the other verbs for the current one. All verbs but `claimDue` join the
 * current transaction, if there is one.
 */
export class DueStore extends Context.Service<
  DueStore,
  {
    /**
     * Leases subjects of a lane that are due, in the order of `dueAt`, then invoices before payments before subscriptions, then by id. Each is leased
     * to one caller only, also when several claim at once. When its lease ends, the subject is due again.
     *
     * When more subjects are due than the limit, tenants take turns: each gets its longest due subject before any gets a
     * second one.
     */
    readonly claimDue: (claim: DueClaim) => Effect.Effect<ReadonlyArray<ClaimedSubject>, StorageError>

    /**
     * Whether a lease still holds. If it does, the subject is held until the transaction ends, as by `lock` of its store.
     * A lease does not hold any more when the subject was claimed again or saved. One whose time is over holds if nobody
     * has claimed the subject since. Call it inside a transaction.
     */
    readonly holds: (claimed: ClaimedSubject) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /**
     * Ends a lease. With a failure, the subject is tried again at its `retryAt` or set aside; without one, it is as due as
     * before the claim. Gives false and changes nothing if the lease does not hold any more.
     */
    readonly release: (
      claimed: ClaimedSubject,
      failure: DueFailure | null,
    ) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /**
     * Puts a reminder of an API key, an automatic top-up, a check of the books, a grant of paid credits, an erasure, a payment method, a refund, a migration of plans or the advance of a test clock in the queue, or takes it off (`null`). Ends
     * a lease on it and forgets its failures. Other subjects get there by their stores.
     */
    readonly schedule: (
      subject: ScheduledSubject,
      dueAt: number | null,
    ) => Effect.Effect<void, StorageError, CurrentTenant>

    /** When the next subject of any tenant is due, or its lease ends. `none` if nothing will be due by itself. */
    readonly nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, StorageError>

    /**
     * The first subject of a test clock's customers: by the instant at which it can be worked on, then invoices before
     * payments before subscriptions, then by id. `none` if nothing is due by itself or all of it is set aside.
     */
    readonly firstDue: (
      testClockId: TestClockId,
    ) => Effect.Effect<Option.Option<FirstDue>, StorageError, CurrentTenant>

    /**
     * The subscriptions and invoices of a customer whose `dueAt` is an instant (in epoch milliseconds) or before it: by `dueAt`, then invoices before
     * subscriptions, then by id. Also those that are leased or wait to be tried again, but none that is set aside. At most
     * `MAX_SUBJECTS_OF_CUSTOMER`, the first ones.
     */
    readonly ofCustomer: (
      customerId: CustomerId,
      until: number,
    ) => Effect.Effect<ReadonlyArray<CustomerDue>, StorageError, CurrentTenant>

    /**
     * Notes that the first subject of a test clock has failed, as `firstDue` found it. Gives false and changes nothing if
     * it is not due any more at that instant, or has failed as often no more: somebody else has worked on it meanwhile.
     */
    readonly fail: (
      first: FirstDue,
      failure: DueFailure,
    ) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /**
     * Notes that a subject of the queue has failed, without a claim on it: for what is copied from another storage. Of one that
     * is not in the queue it notes nothing.
     */
    readonly noteFailure: (
      subject: Subject,
      failure: DueFailure,
    ) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Puts what is due by a test clock into real time, where it is due at an instant at the latest. For a test clock that is
     * deleted: its customers are erased, so it is the drafts that they have left. What is set aside stays so.
     */
    readonly endClock: (
      testClockId: TestClockId,
      at: DateTime.Utc,
    ) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Counts the subjects whose `dueAt` is an instant or before it, also those that are leased or wait to be tried again. */
    readonly countDue: (until: DateTime.Utc) => Effect.Effect<DueCounts, StorageError>
  }
>()("@billwright/core/time/DueStore") {}
