/**
 * Moves the subscriptions of a plan migration, batch by batch.
 */
import { DateTime, Effect, Option } from "effect"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { Collections } from "../shared/Collections.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import type { StoredSubscription } from "../subscriptions/Subscription.ts"
import { makeSubscriptions, type Subscriptions } from "../subscriptions/Subscriptions.ts"
import { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"
import {
  type MigratedAmounts,
  type Outcome,
  type PlanMigration,
  type PlanMigrationId,
  planMigrations,
  recorded,
} from "./PlanMigration.ts"

/** Most subscriptions that one claim of a migration looks at. */
const BATCH = 50

type Run<A> = Effect.Effect<A, InvoicingUnsupported | StorageError, CurrentTenant>

const UNCHANGED: Outcome = { type: "unchanged" }
const failed = (problem: string): Outcome => ({ type: "failed", problem })

type MoveFailure = Effect.Error<ReturnType<Subscriptions["Service"]["preview"]>>

/** What is known of a subscription before it is moved. `undefined`: it can be moved. */
const known = (
  { state }: StoredSubscription,
  { at, fromVersion, plan, toVersion }: PlanMigration,
): Outcome | undefined => {
  if (state.plan.key !== plan || state.plan.version === toVersion) return UNCHANGED
  // It was moved elsewhere after the batch was read.
  if (fromVersion !== null && state.plan.version !== Number(fromVersion)) return UNCHANGED
  const { pending } = state
  // Quantities that wait for the same time are changed together with the plan.
  if (pending === null || (pending.plan === null && pending.at === at)) return undefined
  const isSame =
    pending.plan?.key === plan && pending.plan.version === toVersion && pending.at === "period_end"
  return isSame ? UNCHANGED : failed("has a change that waits")
}

/** Makes the work on a migration that a runner has claimed. Each claim does one batch. */
export const makeMigrationRun = Effect.gen(function* () {
  const duePort = yield* optionalPort(DueStore)
  const storePort = yield* optionalPort(SubscriptionStore)
  const migrations = (yield* Collections).of(planMigrations)
  const subscriptions = yield* makeSubscriptions
  const { atomically } = yield* Transactor

  /** What moving a subscription costs: what is invoiced at once, and by how much the next invoice changes. */
  const costOf = Effect.fnUntraced(function* (
    { id, state }: StoredSubscription,
    change: { readonly plan: string; readonly version: number; readonly at: "now" | "period_end" },
  ) {
    const asked = { action: "change", subscriptionId: id } as const
    const stays = yield* subscriptions.preview({ ...asked, quantities: {} })
    const moves = yield* subscriptions.preview({ ...asked, ...change })
    const amounts: MigratedAmounts = {
      currency: state.currency,
      now: moves.invoices.reduce((sum, { total }) => sum + total, 0n),
      next: (moves.nextInvoice?.total ?? 0n) - (stays.nextInvoice?.total ?? 0n),
    }
    return amounts
  })

  /** Moves a subscription that the current transaction holds. A problem with it must not stop the others. */
  const move = (stored: StoredSubscription, { at, dryRun, plan, toVersion }: PlanMigration): Run<Outcome> => {
    const change = { plan, version: toVersion, at: stored.state.phase === "scheduled" ? "now" : at } as const
    const work: Effect.Effect<MigratedAmounts | null, MoveFailure, CurrentTenant> = dryRun
      ? costOf(stored, change)
      : Effect.as(subscriptions.change(stored.id, change), null)
    return work.pipe(
      Effect.map((amounts): Outcome => ({ type: "migrated", amounts })),
      Effect.catch((error) =>
        error._tag === "InvoicingUnsupported" || (error._tag === "StorageError" && error.retryable)
          ? Effect.fail(error)
          : Effect.succeed(failed(error._tag === "ActionUnavailable" ? error.problem : error.message)),
      ),
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.logError("a bug kept a subscription from being migrated", stored.id, defect),
          failed("could not be moved because of an error in the program, which is in the log"),
        ),
      ),
    )
  }

  /** Looks at one subscription. Gives false if the lease is over, or the migration was deleted. */
  const one = (claimed: ClaimedSubject, id: PlanMigrationId, subscriptionId: SubscriptionId): Run<boolean> =>
    Effect.gen(function* () {
      const due = yield* duePort
      const store = yield* storePort
      const migration = yield* migrations.find(id)
      if (Option.isNone(migration) || !(yield* due.holds(claimed))) return false
      const stored = (yield* store.lockGroup(subscriptionId)).find((one) => one.id === subscriptionId)
      if (stored === undefined || stored.state.phase === "ended") return true
      const outcome = known(stored, migration.value) ?? (yield* move(stored, migration.value))
      yield* migrations.modify(id, (value) => Effect.succeed(recorded(value, subscriptionId, outcome)))
      return true
    }).pipe(atomically)

  /** Ends a claim: the next one goes on after a subscription, or the migration is complete (`null`). */
  const finish = (claimed: ClaimedSubject, id: PlanMigrationId, last: SubscriptionId | null): Run<void> =>
    Effect.gen(function* () {
      const due = yield* duePort
      if (!(yield* due.holds(claimed))) return
      const completedAt = yield* DateTime.now
      yield* migrations.modify(id, (value) =>
        Effect.succeed(
          last === null ? { ...value, status: "completed", completedAt } : { ...value, position: last },
        ),
      )
      if (last === null) yield* due.schedule({ kind: "plan_migration", id }, null)
      else yield* due.release(claimed, null)
    }).pipe(atomically)

  return (claimed: ClaimedSubject, id: PlanMigrationId): Run<void> =>
    Effect.gen(function* () {
      const store = yield* storePort
      const found = yield* migrations.find(id)
      if (Option.isNone(found)) return
      const { fromVersion, plan, position } = found.value
      const filter = { plan, version: fromVersion ?? undefined }
      const cursor = position === null ? undefined : ({ direction: "older", id: position } as const)
      const page = yield* Effect.orDie(store.list(filter, { limit: BATCH, cursor }))
      for (const subscription of page.data) {
        if (!(yield* one(claimed, id, subscription.id))) return
      }
      yield* finish(claimed, id, page.hasMore ? (page.data.at(-1)?.id ?? null) : null)
    })
})
