/**
 * Hands deliveries to the dispatcher of this process while they are published: see docs/decisions/0051.
 *
 * The publishing statement stores them with leases, and gives what an attempt needs. So nothing has to be claimed, which would
 * be a second transaction, and the deliveries are sent as soon as the publication is committed.
 *
 * An answer can be lost after the commit. Then nobody knows of the leases, so they are given back (`LostLeases`).
 */
import {
  type Claimed,
  type ClaimedDelivery,
  type ClaimedEndpoint,
  CurrentTenant,
  type Event,
  Id,
  type Places,
  type StorageError,
  type Tenant,
  type UnreadableDelivery,
} from "@billwright/core"
import { Cause, Effect, Exit, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { CommitsService } from "../Commits.ts"
import type { DatabaseService } from "../Database.ts"
import type { Intakes } from "../Intakes.ts"
import { decoding, json, type Row } from "../Row.ts"
import { deliveryId } from "./DeliveryRow.ts"
import { claimedEndpoint } from "./EndpointRow.ts"
import { eventId } from "./EventRow.ts"
import * as LeaseToken from "./LeaseToken.ts"
import type { LostLeases } from "./LostLeases.ts"

/** The last arguments of the functions that publish, from this parameter on. */
export const leaseArguments = (first: number): string =>
  `$${first}::text::uuid, $${first + 1}::text::bigint, $${first + 2}::text::integer, $${first + 3}::text::uuid[]`

type Lease = ReadonlyArray<string | null>

const NO_LEASE: Lease = [null, null, "0", "{}"]

const leaseOf = ({ count, full, leaseUntil }: Places, token: string): Lease => [
  token,
  String(leaseUntil.epochMilliseconds),
  String(count),
  ArrayLiteral.plain(full.map((id) => Id.toUuid(id))),
]

/** What was leased, as the functions give it. `tid` is where the row is. */
interface Leased {
  readonly deliveries: ReadonlyArray<
    readonly [id: string, eventId: string, endpointId: string, token: string, tid: string]
  >
  /** By id. */
  readonly endpoints: Readonly<Record<string, Row>>
}

const NOTHING: Claimed = { deliveries: [], unreadable: [] }

/** Reads each endpoint once. */
const readingOnce = ({ endpoints }: Leased): ((uuid: string) => ClaimedEndpoint) => {
  const known = new Map<string, ClaimedEndpoint>()
  return (uuid) => {
    const found = known.get(uuid) ?? claimedEndpoint(uuid, endpoints[uuid] ?? {})
    known.set(uuid, found)
    return found
  }
}

const claimedFromRow = (tenant: Tenant.Tenant, events: ReadonlyArray<Event.Event>, row: Row): Claimed => {
  const leased = json(row, "leased") as Leased | null
  // Nothing was published.
  if (leased === null) return NOTHING
  const byId = new Map(events.map((event) => [event.id, event]))
  const endpointOf = readingOnce(leased)
  const deliveries: Array<ClaimedDelivery> = []
  const unreadable: Array<UnreadableDelivery> = []
  for (const [id, ofEvent, ofEndpoint, token, tid] of leased.deliveries) {
    const key = { tenant, id: deliveryId(id), token: LeaseToken.make(token, tid), attemptCount: 0 }
    const { id: own, payload, type } = byId.get(eventId(ofEvent))!
    try {
      const endpoint = endpointOf(ofEndpoint)
      deliveries.push({ ...key, eventId: own, eventType: type, payload, wasLost: false, endpoint })
    } catch (cause) {
      unreadable.push({ ...key, cause })
    }
  }
  return { deliveries, unreadable }
}

interface Published {
  readonly row: Row
  /** Whether deliveries may be due that nobody has. */
  readonly hasDue: boolean
}

/** A statement that publishes events, with the last parameters of its function. It gives one row. */
type Publish = (
  sql: SqlClient.SqlClient,
  lease: Lease,
) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** Runs a statement that publishes events. */
type HandOver = (
  operation: string,
  events: ReadonlyArray<Event.Event>,
  publish: Publish,
) => Effect.Effect<Published, StorageError, CurrentTenant>

export const make = (
  { inTransaction, write }: DatabaseService,
  { worker }: CommitsService,
  intakes: Intakes["Service"],
  lost: LostLeases,
): HandOver => {
  const withoutLease = (operation: string, publish: Publish) =>
    Effect.map(
      write(operation, (sql) => publish(sql, NO_LEASE)),
      (rows): Published => ({ row: rows[0] ?? {}, hasDue: mayHaveDue(rows[0]) }),
    )

  const handOver = Effect.fnUntraced(function* (
    places: Places,
    operation: string,
    events: ReadonlyArray<Event.Event>,
    publish: Publish,
    restore: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>,
  ) {
    const tenant = yield* CurrentTenant
    const token = worker.token()
    const lease = leaseOf(places, token)
    // Repeated, because its answer was lost: what it leased is not known. The repeat leases nothing, so that all leases
    // with the token can be given back.
    let isRepeated = false
    const writing = write(operation, (sql, isRepeat) => {
      isRepeated ||= isRepeat
      return publish(sql, isRepeat ? NO_LEASE : lease)
    })
    const exit = yield* Effect.exit(restore(writing))
    const read = decoding(operation, (row: Row) => claimedFromRow(tenant, events, row))
    const claimed =
      Exit.isSuccess(exit) && !isRepeated
        ? Option.getOrUndefined(yield* Effect.option(read(exit.value[0] ?? {})))
        : undefined
    const isTaken = places.take(claimed ?? NOTHING)
    const mayBeLost = Exit.isSuccess(exit) ? claimed === undefined || !isTaken : mayBeCommitted(exit.cause)
    if (mayBeLost) yield* lost.add({ tenant, events, token })
    const [row] = yield* exit
    return { row: row ?? {}, hasDue: mayBeLost || mayHaveDue(row) }
  })

  return Effect.fnUntraced(function* (operation, events, publish) {
    // The commit of a transaction may come late, or never.
    if (yield* inTransaction) return yield* withoutLease(operation, publish)
    const tenant = yield* CurrentTenant
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(intakes.offer(tenant, events.length), (places) =>
        places === undefined
          ? restore(withoutLease(operation, publish))
          : lost.during(handOver(places, operation, events, publish, restore)),
      ),
    )
  })
}

/** Whether a publication may have stored deliveries without a lease. */
const mayHaveDue = (row: Row | undefined): boolean => row?.["has_due"] !== "false"

/** Whether a publication that failed may have been committed. Only an error of the server says that it was not. */
const mayBeCommitted = (cause: Cause.Cause<StorageError>): boolean =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => true,
    onSome: ({ isOutcomeUnknown }) => isOutcomeUnknown === true,
  })
