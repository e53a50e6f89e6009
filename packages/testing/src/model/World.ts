/**
 * A storage and the reference side by side: what is done to both must give equal answers.
 */
import {
  type ApiKey,
  CurrentTenant,
  type Customer,
  Page,
  type Tenant,
  type Threshold,
  type UsageRecord,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Predicate } from "effect"
import { otherTenants } from "../contract/ContractTest.ts"
import { plain } from "../PlainValue.ts"
import { ReferenceStorage } from "./ReferenceStorage.ts"

/** The ids of a kind that were made so far, by all tenants, also in transactions that were undone. */
interface Things {
  readonly customers: Array<Customer.CustomerId>
  readonly records: Array<UsageRecord.UsageRecordId>
  readonly thresholds: Array<Threshold.ThresholdId>
  readonly keys: Array<ApiKey.ApiKeyId>
}

export interface World {
  /** The test's own tenant and the two nearest to it. */
  readonly tenants: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly reference: ReferenceStorage }>
  readonly things: Things
  /** The digests of keys, by their ids. */
  readonly digests: Map<string, string>
}

/** A new world: nothing is stored for any of its tenants. */
export const makeWorld: Effect.Effect<World, never, CurrentTenant> = Effect.gen(function* () {
  const tenants = [yield* CurrentTenant, ...(yield* otherTenants)]
  return {
    tenants: tenants.map((tenant) => ({ tenant, reference: new ReferenceStorage() })),
    things: { customers: [], records: [], thresholds: [], keys: [] },
    digests: new Map(),
  }
})

/** The nth thing that was made, or one that never was. */
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
 * Asks the storage and the reference the same, and fails when the answers differ. A failure that is not an
 * answer (storage is down, a defect) fails the run.
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

/** What a command that holds others ended with on purpose. */
export class EndedOnPurpose {
  readonly _tag = "EndedOnPurpose"
}

/**
 * Runs a part that may end without success, in the storage and in the reference: then what the reference did
 * meanwhile is undone.
 */
export const undoable = Effect.fnUntraced(function* <A, E, R>(world: World, part: Effect.Effect<A, E, R>) {
  const states = world.tenants.map(({ reference }) => reference.state)
  const exit = yield* Effect.exit(part)
  if (Exit.isSuccess(exit)) return Option.some(exit.value)
  const reason = Cause.squash(exit.cause)
  if (!(reason instanceof EndedOnPurpose)) return yield* Effect.die(reason)
  for (const [index, { reference }] of world.tenants.entries()) reference.state = states[index]!
  return Option.none()
})
