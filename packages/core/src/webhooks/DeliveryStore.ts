/**
 * Where deliveries and their attempts are kept, and the queue of what is due: the storage port of the
 * dispatcher.
 */
import { Context, type DateTime, Effect, type Option } from "effect"
import type { EventId } from "../events/EventId.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant, Tenant } from "../shared/Tenant.ts"
import type {
  Attempt,
  Delivery,
  DeliveryCounts,
  DeliveryId,
  DeliveryStatus,
  DeliveryWithAttempts,
} from "./Delivery.ts"
import type { DeliveryState } from "./DeliveryMachine.ts"
import type { EndpointId, EndpointSecret, SignatureScheme } from "./Endpoint.ts"
import type { RequestHeaders } from "./RequestHeaders.ts"
import type { StoredCounts } from "./WebhookStatistics.ts"

/** Most deliveries of one claim. */
export const MAX_CLAIM = 500
/** Most results of one `settle`. */
export const MAX_SETTLE = 500
/** Most deliveries that a range replay makes. */
export const MAX_RANGE_REPLAY = 20_000
/** Most deliveries that one `cancel` ends. */
export const MAX_CANCEL = 5_000
/** Most deliveries of one event that are shown with it: its newest. */
export const MAX_DELIVERIES_OF_EVENT = 100

/** Names a lease: a random UUID. A delivery that was claimed again has another one. */
type LeaseToken = string

/** A delivery that a worker has leased, with all that it takes to make an attempt. */
export interface ClaimedDelivery {
  readonly tenant: Tenant
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly eventType: string
  readonly payload: string
  /** Attempts that ended, a lost one included (see `wasLost`). */
  readonly attemptCount: number
  /** An earlier lease ended without a result: its attempt has just been recorded as `unknown`. */
  readonly wasLost: boolean
  readonly token: LeaseToken
  readonly endpoint: ClaimedEndpoint
}

/** The endpoint of a claimed delivery as it is now. */
export interface ClaimedEndpoint {
  readonly id: EndpointId
  readonly status: "enabled" | "disabled" | "deleted"
  readonly url: string
  readonly headers: RequestHeaders
  readonly signature: SignatureScheme
  /** Newest first; those that expired may be among them. */
  readonly secrets: ReadonlyArray<EndpointSecret>
  readonly failingSince: DateTime.Utc | null
}

/** A row that was claimed and can't be read. It is to be set aside (`DeliveryMachine`: `Unreadable`). */
export interface UnreadableDelivery {
  readonly tenant: Tenant
  readonly id: DeliveryId
  readonly token: LeaseToken
  readonly attemptCount: number
  readonly cause: unknown
}

export interface Claim {
  readonly now: DateTime.Utc
  /** When the leases end. */
  readonly leaseUntil: DateTime.Utc
  /** At most so many in all: 1 to `MAX_CLAIM`. */
  readonly limit: number
  /** At most so many of one endpoint … */
  readonly limitPerEndpoint: number
  /** … but for these. 0: none. */
  readonly limits: ReadonlyMap<EndpointId, number>
  /** At most so many of each of these tenants. Each is named once. */
  readonly tenantLimits: ReadonlyArray<TenantLimit>
}

export interface TenantLimit {
  readonly tenant: Tenant
  /** 0: none. */
  readonly limit: number
}

export interface Claimed {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  readonly unreadable: ReadonlyArray<UnreadableDelivery>
}

/** What came of a claimed delivery. */
export interface Settlement {
  readonly tenant: Tenant
  readonly id: DeliveryId
  readonly endpointId: EndpointId | undefined
  readonly token: LeaseToken
  readonly at: DateTime.Utc
  /** The state to write. Its lease ends. */
  readonly state: DeliveryState
  /** The attempt that ended; `undefined` when none was made. */
  readonly attempt: Attempt | undefined
}

/** Which deliveries to list. */
export interface DeliveryFilterQuery {
  readonly status: DeliveryStatus | undefined
  readonly endpointId: EndpointId | undefined
  readonly eventId: EventId | undefined
}

/** Which of an endpoint's past events to send again; see `Endpoint.ReplayRange`. */
export interface RangeReplay {
  readonly endpointId: EndpointId
  readonly since: DateTime.Utc
  readonly until: DateTime.Utc
  readonly onlyFailed: boolean
  /** Empty: every type that the endpoint's filter admits. */
  readonly types: ReadonlyArray<string>
  /** The first of the new deliveries' ids; they follow in the order of the events' ids. */
  readonly firstDeliveryId: DeliveryId
  readonly now: DateTime.Utc
  readonly limit: number
  /** Stores nothing, and gives how many it would have stored. */
  readonly isDryRun: boolean
}

/**
 * `claimDue`, `settle` and `nextDueAt` act for all tenants; every other verb acts for the current one alone. All
 * but `claimDue` join the current transaction, if there is one.
 */
export class DeliveryStore extends Context.Service<
  DeliveryStore,
  {
    /**
     * A delivery with its attempts. `attemptStartedAt` is when its lease was taken, from the claim to the settlement:
     * also when the lease has ended and nobody has claimed it again.
     */
    readonly find: (
      id: DeliveryId,
    ) => Effect.Effect<Option.Option<DeliveryWithAttempts>, StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      filter: DeliveryFilterQuery,
      page: PageQuery,
    ) => Effect.Effect<Page<Delivery>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * How many deliveries of events have each status, up to `Delivery.MAX_COUNTED`: in the order given, zeros for an
     * event that is unknown. As many events as a page holds at most.
     */
    readonly countByStatus: (
      eventIds: ReadonlyArray<EventId>,
    ) => Effect.Effect<ReadonlyArray<DeliveryCounts>, StorageError, CurrentTenant>

    /** Stores new `Pending` deliveries of one event that exists, due at `now`, one for each endpoint given. */
    readonly insert: (replay: {
      readonly eventId: EventId
      readonly endpointIds: ReadonlyArray<EndpointId>
      readonly firstDeliveryId: DeliveryId
      readonly now: DateTime.Utc
    }) => Effect.Effect<ReadonlyArray<Delivery>, StorageError, CurrentTenant>

    /**
     * Stores a new `Pending` delivery, due at `now`, of every event in the range that has none pending to the
     * endpoint, whose type its filter admits and that was not made for another endpoint (`Event.endpointId`), in
     * one transaction. Gives how many; when there are more than
     * `limit`, stores nothing and gives `limit + 1`. Replays of one endpoint at once don't double each other.
     */
    readonly replayRange: (range: RangeReplay) => Effect.Effect<number, StorageError, CurrentTenant>

    /**
     * Ends the pending deliveries of an endpoint as `Failed`, the `MAX_CANCEL` oldest of them. One that is leased gets a lost attempt (see
     * `claimDue`), because it may be under way; its worker can't settle it any more. Gives how many.
     * `cancelAll` ends all of them.
     */
    readonly cancel: (
      endpointId: EndpointId,
      reason: "endpoint_disabled" | "endpoint_deleted",
      at: DateTime.Utc,
    ) => Effect.Effect<number, StorageError, CurrentTenant>

    /**
     * Leases deliveries that are due, the longest due first, each to one caller alone, however many ask at
     * once. When more are due than the limits admit, tenants take turns: each gets one, its longest due, before any
     * gets another; of those that get one more or less than others, the longest due gets more. A leased one is due again when its lease ends (that is its `nextAttemptAt` meanwhile), and may then
     * count as due for as long as it was before. Claimed then,
     * its lost attempt is recorded and counted: begun at the `now` of the claim that was lost, with the error
     * `unknown`, without headers or an answer; it says nothing of the endpoint's `failingSince`. The backlog of one
     * endpoint or tenant, however long, does not keep others' from being found. The endpoint of a deleted one may be
     * empty but for its id and status.
     */
    readonly claimDue: (claim: Claim) => Effect.Effect<Claimed, StorageError>

    /**
     * Writes results: state, attempt and the endpoint's `failingSince` (set by a failed attempt when it is
     * `null`, to the attempt's start, unless the error is one of ours, `ownErrors`; cleared by a success) in one step, each guarded by its lease's token: one
     * that was claimed again, cancelled or settled changes nothing; one whose lease has ended and that nobody
     * claimed is written. At most `MAX_SETTLE`. Gives, in the order given, which were written.
     */
    readonly settle: (
      settlements: ReadonlyArray<Settlement>,
    ) => Effect.Effect<ReadonlyArray<boolean>, StorageError>

    /**
     * What happened since an hour began, by endpoint and hour: each settlement counts at its `at`, a
     * cancellation at its own, a lost attempt at the claim (or cancellation) that found it. Counted in the same
     * step as what it counts.
     */
    readonly counts: (sinceHour: DateTime.Utc) => Effect.Effect<StoredCounts, StorageError, CurrentTenant>

    /** When the next delivery of any tenant is due (or its lease ends); `none` when nothing is pending. */
    readonly nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, StorageError>
  }
>()("@billwright/core/webhooks/DeliveryStore") {}

/**
 * Ends all pending deliveries of an endpoint, in steps, so that no step of an endpoint with a long backlog takes
 * long. To be run when the endpoint is disabled or deleted already: what a crash leaves is ended when it is due,
 * because a worker that claims it sees the endpoint's status.
 */
export const cancelAll = (
  store: DeliveryStore["Service"],
  endpointId: EndpointId,
  reason: "endpoint_disabled" | "endpoint_deleted",
  at: DateTime.Utc,
): Effect.Effect<void, StorageError, CurrentTenant> =>
  Effect.flatMap(store.cancel(endpointId, reason, at), (count) =>
    count < MAX_CANCEL ? Effect.void : cancelAll(store, endpointId, reason, at),
  )
