/**
 * The use cases of migrations of plans. `BillingRuns` moves the subscriptions.
 */
import { isKey } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { PlanNotFound } from "../catalog/Plan.ts"
import { PlanStore } from "../catalog/PlanStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { DueStore } from "./DueStore.ts"
import {
  CreatePlanMigration,
  ListPlanMigrations,
  PLAN_MIGRATION_ID_PREFIX,
  type PlanMigration,
  PlanMigrationId,
  PlanMigrationNotFound,
  planMigrations,
} from "./PlanMigration.ts"

const decodeCreate = decoder(CreatePlanMigration)
const decodeList = decoder(ListPlanMigrations)
const { knownId, orNotFound } = ById.of(planMigrations)

type Failure = InvoicingUnsupported | StorageError

/** Creates, reads, lists and deletes the plan migrations of the current tenant. */
export class PlanMigrations extends Context.Service<
  PlanMigrations,
  {
    /**
     * Begins a migration. `BillingRuns` looks at the subscriptions of the plan, the newest first, each in a transaction of
     * its own, and goes on where it stopped. A dry run changes nothing.
     */
    readonly create: (
      input: CreatePlanMigration,
    ) => Effect.Effect<PlanMigration, InvalidInput | PlanNotFound | Failure, CurrentTenant>

    readonly get: (
      id: string,
    ) => Effect.Effect<PlanMigration, PlanMigrationNotFound | StorageError, CurrentTenant>

    /** Deletes a migration. If it is running, it stops. Subscriptions that were moved stay where they are. */
    readonly delete: (id: string) => Effect.Effect<void, PlanMigrationNotFound | Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListPlanMigrations,
    ) => Effect.Effect<Page<PlanMigration>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/time/PlanMigrations") {
  static readonly layer = Layer.effect(
    PlanMigrations,
    Effect.gen(function* () {
      const store = (yield* Collections).of(planMigrations)
      const duePort = yield* optionalPort(DueStore)
      const plans = yield* PlanStore
      const transactor = yield* Transactor
      const ids = yield* IdGenerator

      const requireVersion = Effect.fnUntraced(function* (plan: string, version: number, field: string) {
        const found = yield* plans.findVersion(plan, version)
        if (Option.isNone(found)) return yield* new PlanNotFound({ id: plan, version, field })
      })

      const create = Effect.fn("PlanMigrations.create")(function* (input: CreatePlanMigration) {
        const due = yield* duePort
        const { at, dryRun = false, fromVersion = null, plan, ...fields } = yield* decodeCreate(input)
        const [newest] = isKey(plan) ? yield* plans.findAll([plan]) : []
        if (newest === undefined) return yield* new PlanNotFound({ id: plan, field: "plan" })
        const { toVersion = newest.version } = fields
        yield* requireVersion(plan, toVersion, "toVersion")
        if (fromVersion !== null) yield* requireVersion(plan, fromVersion, "fromVersion")
        if (fromVersion === toVersion) {
          return yield* new InvalidInput({ field: "fromVersion", problem: "must differ from toVersion" })
        }
        const createdAt = yield* DateTime.now
        const migration: PlanMigration = {
          ...Resource.unset(planMigrations),
          id: PlanMigrationId.make(yield* ids.next(PLAN_MIGRATION_ID_PREFIX)),
          plan,
          fromVersion,
          toVersion,
          at,
          dryRun,
          status: "running",
          counts: { migrated: 0, unchanged: 0, failed: 0 },
          failures: [],
          amounts: [],
          differences: [],
          createdAt,
        }
        const subject = { kind: "plan_migration", id: migration.id } as const
        yield* transactor.atomically(
          Effect.andThen(store.insert(migration), due.schedule(subject, createdAt.epochMilliseconds)),
        )
        return migration
      })

      const get = Effect.fn("PlanMigrations.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const remove = Effect.fn("PlanMigrations.delete")(function* (id: string) {
        const due = yield* duePort
        const known = yield* knownId(id)
        yield* transactor.atomically(
          Effect.gen(function* () {
            if (!(yield* store.remove(known))) return yield* new PlanMigrationNotFound({ id })
            yield* due.schedule({ kind: "plan_migration", id: known }, null)
          }),
        )
      })

      const list = Effect.fn("PlanMigrations.list")(function* (query: ListPlanMigrations = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      return PlanMigrations.of({ create, get, delete: remove, list })
    }),
  )
}
