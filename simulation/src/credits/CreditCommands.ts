/**
 * What hosts do with credits. Each command is decided once, and repeated until its answer is known.
 */
import { type Billing, Credits, type CurrentTenant, Holds } from "@billwright/core"
import { DateTime, Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import type { Ask, Command } from "./CreditBooks.ts"

const SECOND = 1_000
/** The longest text of any run: amounts stay small, because the model has each token by itself. */
const MAX_GRANT = 60
const MAX_TAKEN = 20
const LENGTHS = [1, 900, 5 * SECOND, 60 * SECOND, 3_600 * SECOND]
const TTLS = [1, 5, 60, 3_600]

/** An account of a host, and what it knows of it. */
export interface Host {
  readonly customerId: string
  readonly unit: string
  readonly grants: ReadonlyArray<string>
  readonly holds: ReadonlyArray<string>
}

const takes = (choice: Choice, most: number): bigint => BigInt(choice.int(1, most))

const decideGrant = (choice: Choice, now: number): Ask => {
  const effectiveAt = choice.chance(0.3) ? now + choice.pick(LENGTHS)! : null
  const expiresAt = choice.chance(0.7) ? (effectiveAt ?? now) + choice.pick(LENGTHS)! : null
  return {
    type: "grant",
    amount: takes(choice, MAX_GRANT),
    priority: choice.int(0, 2),
    effectiveAt,
    expiresAt,
  }
}

/** Something to do with a hold, or `undefined` if there is none. */
const decideSettling = (
  choice: Choice,
  type: "extend" | "commit" | "release",
  host: Host,
): Ask | undefined => {
  const id = choice.pick(host.holds)
  if (id === undefined) return undefined
  if (type === "extend") return { type, id, ttlSeconds: choice.pick(TTLS)! }
  if (type === "release") return { type, id }
  const overdraft = choice.pick(["debt", "refuse"] as const)
  return { type, id, amount: takes(choice, MAX_TAKEN) - 1n, overdraft }
}

const TYPES: ReadonlyArray<readonly [weight: number, type: Ask["type"]]> = [
  [3, "grant"],
  [1, "void"],
  [4, "consume"],
  [4, "reserve"],
  [1, "extend"],
  [3, "commit"],
  [1, "release"],
  [2, "balance"],
]

/** What a host asks of an account next. */
export const decide = (choice: Choice, host: Host, now: number): Ask => {
  const type = choice.weighted(TYPES)
  switch (type) {
    case "grant":
      return decideGrant(choice, now)
    case "consume":
      return { type, amount: takes(choice, MAX_TAKEN) }
    case "reserve":
      return { type, amount: takes(choice, MAX_TAKEN), ttlSeconds: choice.pick(TTLS)! }
    case "balance":
      return { type }
    case "void": {
      const id = choice.pick(host.grants)
      return id === undefined ? { type: "balance" } : { type, id }
    }
    default:
      return decideSettling(choice, type, host) ?? { type: "balance" }
  }
}

const instantOf = (millis: number | null) => (millis === null ? undefined : DateTime.makeUnsafe(millis))

/** Asks the library once. */
export const perform = (
  { ask, number }: Command,
  { customerId, unit }: Pick<Host, "customerId" | "unit">,
): Effect.Effect<unknown, unknown, Billing.Services | CurrentTenant> =>
  Effect.gen(function* () {
    const [credits, holds] = [yield* Credits, yield* Holds]
    const account = { customerId, unit } as Parameters<typeof credits.balance>[0]
    const keyed = { ...account, idempotencyKey: `command ${number}` }
    switch (ask.type) {
      case "grant": {
        const { amount, priority } = ask
        const [effectiveAt, expiresAt] = [instantOf(ask.effectiveAt), instantOf(ask.expiresAt)]
        return yield* credits.grant({
          ...keyed,
          kind: "paid",
          amount,
          priority,
          ...(effectiveAt === undefined ? {} : { effectiveAt }),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        })
      }
      case "void":
        return yield* credits.voidGrant(ask.id)
      case "consume":
        return yield* credits.consume({ ...keyed, amount: ask.amount })
      case "reserve":
        return yield* holds.reserve({ ...keyed, amount: ask.amount, ttlSeconds: ask.ttlSeconds })
      case "extend":
        return yield* holds.extend(ask.id, { ttlSeconds: ask.ttlSeconds })
      case "commit":
        return yield* holds.commit(ask.id, { amount: ask.amount, overdraft: ask.overdraft })
      case "release":
        return yield* holds.release(ask.id)
      case "balance":
        return yield* credits.balance(account)
    }
  })
