/**
 * A storage and the reference side by side. Every command runs on both, and the answers must be equal.
 */
import {
  type ApiKey,
  type ClaimedDelivery,
  CurrentTenant,
  type Customer,
  type Endpoint,
  type Event,
  type EventStore,
  type Meter,
  Page,
  type StorageError,
  type TailPosition,
  type Tenant,
  type Threshold,
  type UsageRecord,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, Option, Predicate } from "effect"
import { asTenant, otherTenants } from "../contract/ContractTest.ts"
import { endOfTail } from "../contract/EventTailContract.ts"
import { plain } from "../PlainValue.ts"
import * as Sample from "../Sample.ts"
import type { Command } from "./Command.ts"
import { ReferenceStorage } from "./ReferenceStorage.ts"
import { ReferenceWebhooks } from "./ReferenceWebhooks.ts"

/** The ids of one kind that were made so far by all tenants, including those of undone transactions. */
interface Things {
  readonly customers: Array<Customer.CustomerId>
  readonly records: Array<UsageRecord.UsageRecordId>
  readonly meters: Array<Meter.MeterId>
  readonly thresholds: Array<Threshold.ThresholdId>
  readonly keys: Array<ApiKey.ApiKeyId>
  readonly endpoints: Array<Endpoint.EndpointId>
  readonly events: Array<Event.Event["id"]>
}

/** The expected data of a tenant. */
export interface WorldTenant {
  readonly tenant: Tenant.Tenant
  readonly reference: ReferenceStorage
  readonly webhooks: ReferenceWebhooks
  /** The end of the tenant's tail when the world began. */
  readonly start: TailPosition
}

export interface World {
  /** The test's own tenant and the two most similar to it. */
  readonly tenants: ReadonlyArray<WorldTenant>
  readonly things: Things
  /** The digests of keys, by their ids. */
  readonly digests: Map<string, string>
  /** What was claimed, oldest first. Most of these leases have ended. */
  readonly leases: Array<ClaimedDelivery>
}

/** A new world, in which no tenant has any data. */
export const makeWorld: Effect.Effect<World, StorageError, CurrentTenant | EventStore> = Effect.gen(
  function* () {
    const tenants = yield* Effect.forEach(
      [yield* CurrentTenant, ...(yield* otherTenants)],
      Effect.fnUntraced(function* (tenant) {
        const start = yield* asTenant(tenant)(endOfTail)
        const reference = new ReferenceStorage()
        const webhooks = new ReferenceWebhooks((id) => reference.status(id))
        return { tenant, reference, webhooks, start }
      }),
    )
    return {
      tenants,
      things: { customers: [], records: [], meters: [], thresholds: [], keys: [], endpoints: [], events: [] },
      digests: new Map(),
      leases: [],
    }
  },
)

/** Instants from the day numbers of commands. */
export const dayOf = (day: number): DateTime.Utc => DateTime.add(Sample.CREATED_AT, { days: day })

export const orUndefined = <A>(value: A | null): A | undefined => value ?? undefined

type PageOf = Extract<Command, { readonly command: "listCustomers" }>["page"]

/** A page whose cursor is the nth of some things. */
export const pageQuery = Effect.fnUntraced(function* <R>(
  page: PageOf,
  things: ReadonlyArray<string>,
  make: Effect.Effect<string, never, R>,
) {
  const { cursor, limit } = page
  if (cursor === null) return { limit, cursor: undefined } satisfies Page.PageQuery
  const id = yield* pick(things, cursor.thing, make)
  const query: Page.PageQuery = { limit, cursor: { direction: cursor.direction, id } }
  return query
})

/** The nth thing that was made, or one that was never made. */
export const pick = <A, E, R>(
  things: ReadonlyArray<A>,
  index: number,
  make: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => {
  const found = things[index % (things.length + 1)]
  return found === undefined ? make : Effect.succeed(found)
}

/** Answers as plain data: errors as their fields. */
const answerOf = (value: unknown): unknown =>
  value instanceof Page.CursorNotFound ? { _tag: value._tag, id: value.id } : plain(value)

/**
 * Runs the same operation on the storage and on the reference. Fails if the answers differ. A failure that is not an
 * answer (an unavailable storage, a defect) fails the run.
 */
export const both = Effect.fnUntraced(function* <A, E, R>(
  question: string,
  real: Effect.Effect<A, E, R>,
  reference: () => unknown,
) {
  const exit = yield* Effect.exit(real)
  const error = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : Option.none()
  const isAnswer = Exit.isSuccess(exit) || Option.exists(error, (found) => !isTagged(found, "StorageError"))
  if (!isAnswer && Exit.isFailure(exit)) return yield* Effect.die(Cause.squash(exit.cause))
  const answer = Exit.isSuccess(exit) ? exit.value : Option.getOrThrow(error)
  assert.deepStrictEqual(answerOf(answer), answerOf(reference()), question)
})

const isTagged = (value: unknown, tag: string): boolean => Predicate.isTagged(value, tag)

/** The deliberate failure of a command that contains others. */
export class EndedOnPurpose {
  readonly _tag = "EndedOnPurpose"
}

/**
 * Runs a part that may fail, on the storage and on the reference. If it fails, the reference returns to its state
 * before.
 */
export const undoable = Effect.fnUntraced(function* <A, E, R>(world: World, part: Effect.Effect<A, E, R>) {
  const states = world.tenants.map(({ reference, webhooks }) => [reference.state, webhooks.state] as const)
  const exit = yield* Effect.exit(part)
  if (Exit.isSuccess(exit)) return Option.some(exit.value)
  const reason = Cause.squash(exit.cause)
  if (!(reason instanceof EndedOnPurpose)) return yield* Effect.die(reason)
  for (const [index, { reference, webhooks }] of world.tenants.entries()) {
    const [before, webhooksBefore] = states[index]!
    reference.state = before
    webhooks.state = webhooksBefore
  }
  return Option.none()
})
