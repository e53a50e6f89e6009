/**
 * The storage port of the dispatcher: deliveries with their attempts, and the queue of deliveries that are due.
 */
import { Context, type DateTime, Effect, type Option, type Scope } from "effect"
import type { EventId } from "../events/EventId.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { Awaiting } from "../shared/Signal.ts"
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
import type { SealedHeaders } from "./EndpointHeaders.ts"
import type { StoredCounts } from "./WebhookStatistics.ts"

/** Most deliveries of one claim. */
export const MAX_CLAIM = 500
/** Most results of one `settle`. */
export const MAX_SETTLE = 500
/** Most deliveries that a range replay makes. */
export const MAX_RANGE_REPLAY = 20_000
/** Most deliveries that one `cancel` ends. */
export const MAX_CANCEL = 5_000
/** Most deliveries that are shown with an event: its newest ones. */
export const MAX_DELIVERIES_OF_EVENT = 100

/** Identifies a lease, in the storage's own way. Each claim of a delivery gets a new one, which nobody can guess. */
type LeaseToken = string

/** A delivery that a worker has leased, with everything that an attempt needs. */
export interface ClaimedDelivery {
  readonly tenant: Tenant
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly eventType: string
  readonly payload: string
  /** How many attempts have ended, with a lost one (see `wasLost`). */
  readonly attemptCount: number
  /** True when an earlier lease ended without a result. The claim has recorded its attempt as `unknown`. */
  readonly wasLost: boolean
  readonly token: LeaseToken
  readonly endpoint: ClaimedEndpoint
}

/** The endpoint of a claimed delivery as it is now. */
export interface ClaimedEndpoint {
  readonly id: EndpointId
  readonly status: "enabled" | "disabled" | "deleted"
  readonly url: string
  /** By lower-case name. The values are sealed. */
  readonly headers: SealedHeaders
  readonly signature: SignatureScheme
  /** Newest first. Expired secrets may be among them. */
  readonly secrets: ReadonlyArray<EndpointSecret>
  readonly failingSince: DateTime.Utc | null
}

/** A claimed row that can't be read. The dispatcher ends the delivery (`Unreadable` of `DeliveryMachine`). */
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
  /** Most deliveries of the claim: 1 to `MAX_CLAIM`. */
  readonly limit: number
  /** Most deliveries of one endpoint that is not in `limits`. */
  readonly limitPerEndpoint: number
  /** Most deliveries of each of these endpoints. 0 means none. */
  readonly limits: ReadonlyMap<EndpointId, number>
  /** Most deliveries of each of these tenants. Each tenant is listed once. */
  readonly tenantLimits: ReadonlyArray<TenantLimit>
}

export interface TenantLimit {
  readonly tenant: Tenant
  /** 0 means none. */
  readonly limit: number
}

export interface Claimed {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  readonly unreadable: ReadonlyArray<UnreadableDelivery>
}

/** Who can take deliveries while they are published: the dispatcher of this process. */
export interface Intake {
  /**
   * Offers places to the deliveries of this many events of a tenant, which this process publishes next. Gives `undefined` when
   * there are none to spare.
   */
  readonly offer: (tenant: Tenant, events: number) => Effect.Effect<Places | undefined>
  /**
   * Offers places to publications of other processes, for a second or two: see `StandingOffer`. Gives `undefined` when there
   * are none to spare.
   */
  readonly standingOffer: Effect.Effect<StandingOffer | undefined>
  /**
   * Takes what other processes leased for this one. It neither fails nor waits. Gives false when it takes nothing, because
   * the intake was closed or the leases end too soon. Then they have to be given back.
   */
  readonly takeFromOthers: (leased: Claimed, leaseUntil: DateTime.Utc) => boolean
}

/** What each publication of another process may lease for a dispatcher. Nobody keeps places for it. */
export interface StandingOffer {
  /** Most deliveries of one publication, and most events of it: others lease nothing. */
  readonly count: number
  /** Endpoints that must get none of them: at most 100. */
  readonly full: ReadonlyArray<EndpointId>
  /** How long the leases are, in milliseconds, from when the delivery is stored. */
  readonly leaseMillis: number
}

/** Places that are offered to a publication. */
export interface Places {
  /** Most deliveries of the publication. */
  readonly count: number
  /** Endpoints that must get none of them. */
  readonly full: ReadonlyArray<EndpointId>
  /** When the leases end. */
  readonly leaseUntil: DateTime.Utc
  /**
   * Takes what the publication leased, which may be nothing, and ends the offer. Call it once, whatever becomes of the
   * publication. It neither fails nor waits. Gives false when it takes nothing, because the intake was closed or the
   * leases end too soon. Then the leases have to be given back.
   */
  readonly take: (leased: Claimed) => boolean
}

/** The result of a claimed delivery. */
export interface Settlement {
  readonly tenant: Tenant
  readonly id: DeliveryId
  readonly endpointId: EndpointId | undefined
  readonly token: LeaseToken
  readonly at: DateTime.Utc
  /** The state to write. Writing it ends the lease. */
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
  /** The event types to replay. An empty list means every type that the endpoint's filter includes. */
  readonly types: ReadonlyArray<string>
  /** The id of the first new delivery. The others follow in the order of the events' ids. */
  readonly firstDeliveryId: DeliveryId
  readonly now: DateTime.Utc
  readonly limit: number
  /** Stores nothing, and gives how many deliveries would be stored. */
  readonly isDryRun: boolean
}

/**
 * `claimDue`, `settle`, `nextDueAt`, `handTo` and `due` are about all tenants. Every other verb acts for the current tenant
 * only. All verbs but `claimDue`, `handTo` and `due` join the current transaction, if there is one.
 */
export class DeliveryStore extends Context.Service<
  DeliveryStore,
  {
    /**
     * A delivery with its attempts. `attemptStartedAt` is the instant of the claim, or the event's timestamp if it was
     * handed over. It is set until the settlement, also when the lease has ended and nobody has claimed the delivery again.
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
     * How many deliveries of each event are in each status, up to `Delivery.MAX_COUNTED`, in the order of the ids. An
     * unknown event has zeros. Takes at most as many events as a page has items.
     */
    readonly countByStatus: (
      eventIds: ReadonlyArray<EventId>,
    ) => Effect.Effect<ReadonlyArray<DeliveryCounts>, StorageError, CurrentTenant>

    /**
     * Stores a new `Pending` delivery of an event, due at `now`, for each of the endpoints, which are there. Gives none, and
     * stores none, when there is no such event: it may have been removed since the caller read it.
     */
    readonly insert: (replay: {
      readonly eventId: EventId
      readonly endpointIds: ReadonlyArray<EndpointId>
      readonly firstDeliveryId: DeliveryId
      readonly now: DateTime.Utc
    }) => Effect.Effect<ReadonlyArray<Delivery>, StorageError, CurrentTenant>

    /**
     * Stores a new `Pending` delivery, due at `now`, of each event in the range, in one transaction. Left out are
     * events that have a pending delivery to the endpoint, whose type its filter does not include, or that were made
     * for another endpoint (`Event.endpointId`).
     *
     * Gives how many deliveries it stored. When there are more than `limit`, it stores nothing and gives `limit + 1`.
     * Of concurrent replays to one endpoint, each event is stored by one only.
     */
    readonly replayRange: (range: RangeReplay) => Effect.Effect<number, StorageError, CurrentTenant>

    /**
     * Ends the `MAX_CANCEL` oldest pending deliveries of an endpoint as `Failed`. Gives how many it ended; `cancelAll`
     * ends all of them. A leased delivery gets a lost attempt (see `claimDue`), because an attempt may be under way;
     * its worker can't settle it any more.
     */
    readonly cancel: (
      endpointId: EndpointId,
      reason: "endpoint_disabled" | "endpoint_deleted",
      at: DateTime.Utc,
    ) => Effect.Effect<number, StorageError, CurrentTenant>

    /**
     * Leases deliveries that are due, the longest due first. Each is leased to one caller only, also when several claim
     * at once.
     *
     * When more deliveries are due than the limits allow, tenants take turns: each gets its longest due delivery before
     * any gets a second one. When the last turn is not enough for all tenants, those with the longest due delivery come
     * first. A long backlog of one endpoint or tenant does not hide the deliveries of others.
     *
     * A leased delivery is due again when its lease ends; until then that instant is its `nextAttemptAt`. A lease also
     * ends when its worker has died, where the storage can tell. It may then
     * count as due for as long as it was before. The claim that finds it records and counts the lost attempt: begun at
     * the `now` of the lost claim, with the error `unknown`, without headers or an answer. A lost attempt does not
     * change the endpoint's `failingSince`.
     *
     * A deleted endpoint may be empty except for its id and status.
     */
    readonly claimDue: (claim: Claim) => Effect.Effect<Claimed, StorageError>

    /**
     * Writes up to `MAX_SETTLE` results. Gives, in the same order, which of them were written. `undefined` says that a result
     * is not written yet, because somebody else's transaction holds its delivery. Then it may be given again. No result waits
     * for long because the delivery of another one is held.
     *
     * One step writes the state, the attempt and the endpoint's `failingSince`. A success sets `failingSince` to `null`.
     * A failed attempt sets it to the attempt's start if it is `null`, unless the error is one of `ownErrors`.
     *
     * A result is written only if its lease's token still holds. So nothing changes when the delivery was claimed
     * again, cancelled or settled. A result whose lease has ended is written if nobody has claimed the delivery again.
     */
    readonly settle: (
      settlements: ReadonlyArray<Settlement>,
    ) => Effect.Effect<ReadonlyArray<boolean | undefined>, StorageError>

    /**
     * The counts since an hour began, by endpoint and hour. A settlement counts at its `at`, a cancellation at its `at`,
     * and a lost attempt at the claim (or cancellation) that found it. Each is counted in the step that writes it.
     */
    readonly counts: (sinceHour: DateTime.Utc) => Effect.Effect<StoredCounts, StorageError, CurrentTenant>

    /** When the next delivery of any tenant is due, or its lease ends. `none` when no delivery is pending. */
    readonly nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, StorageError>

    /**
     * Until the scope closes, events that are published outside of transactions may be handed to the intake: they are stored
     * with leases, as if a claim at the event's timestamp had taken them. Those of this process go by `offer`, and those of
     * others by the last `standingOffer`. Each delivery is leased to one taker only. A lease that nobody took is given back
     * without an attempt, or ends as any other.
     *
     * This only saves time. A storage whose claims cost little may do nothing here.
     */
    readonly handTo: (intake: Intake) => Effect.Effect<void, never, Scope.Scope>

    /**
     * Signals that deliveries may be due that nobody has: those that were stored or released, but not those that were handed to
     * an intake. A signal may be late, be missing (from other processes) or come without a reason.
     */
    readonly due: Effect.Effect<Awaiting, never, Scope.Scope>
  }
>()("@billwright/core/webhooks/DeliveryStore") {}

/**
 * Ends all pending deliveries of an endpoint. It works in steps, so that no step takes long when the backlog is long.
 *
 * Run it after the endpoint was deleted. One that was disabled may be enabled again meanwhile. If it stops halfway, the
 * remaining deliveries end when they are due, because the worker that claims them sees that the endpoint is gone.
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
