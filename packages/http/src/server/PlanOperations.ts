/**
 * The operations of plans (see `Operations`).
 */
import { ExactJson, type Plan, Plans, type Preview, type Tenant } from "@billwright/core"
import { Effect } from "effect"
import type { PlanBody, PlanChangesBody, PlanPreviewBody, PlanVersionBody } from "../api/PlansApi.ts"
import { ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const plan = (value: Plan.Plan, tenant: Tenant.Tenant): typeof PlanBody.Encoded => ({
  object: "plan",
  id: value.id,
  key: value.key,
  name: value.name,
  description: value.description,
  version: value.version,
  version_id: value.versionId,
  hash: value.hash,
  terms: value.terms,
  livemode: tenant.mode === "live",
  created_at: Render.instant(value.createdAt),
  updated_at: Render.instant(value.updatedAt),
})

const planVersion = (value: Plan.PlanVersion, tenant: Tenant.Tenant): typeof PlanVersionBody.Encoded => ({
  object: "plan_version",
  id: value.id,
  plan_key: value.planKey,
  version: value.version,
  hash: value.hash,
  terms: value.terms,
  livemode: tenant.mode === "live",
  created_at: Render.instant(value.createdAt),
})

const planChanges = (changes: ReadonlyArray<Plan.PlanChange>): typeof PlanChangesBody.Encoded =>
  Render.completeList(
    changes.map((change) => ({
      object: "plan_change" as const,
      key: change.key,
      status: change.status,
      version: change.version,
      previous_version: change.previousVersion,
      changes: change.changes,
    })),
  )

const planPreview = (value: Preview): typeof PlanPreviewBody.Encoded => ({
  object: "plan_preview",
  plan: value.plan,
  version: value.version,
  currency: value.currency,
  lines: value.lines.map((line) => ({
    charge: line.charge,
    name: line.name,
    amount: ExactJson.integer(line.amount),
    exact: line.exact,
    steps: line.steps,
  })),
  total: ExactJson.integer(value.total),
})

/** A number of a version in a path. Another text is a version that doesn't exist. */
const toVersion = (text: string): number => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0)

export const make: Effect.Effect<OperationsOf<"plans">, never, Plans> = Effect.map(Plans, (plans) => ({
  pushPlans: ({ payload }) => Effect.map(plans.push(payload), (changes) => ok(planChanges(changes))),
  diffPlans: ({ payload }) => Effect.map(plans.diff(payload), (changes) => ok(planChanges(changes))),
  previewPlan: ({ payload }) => Effect.map(plans.preview(payload), (preview) => ok(planPreview(preview))),
  listPlans: ({ query }, tenant) =>
    Effect.map(plans.list(query), (page) => ok(Render.list(page, tenant, plan))),
  getPlan: ({ params }, tenant) => Effect.map(plans.get(params.key), (found) => ok(plan(found, tenant))),
  listPlanVersions: ({ params, query }, tenant) =>
    Effect.map(plans.listVersions(params.key, query), (page) => ok(Render.list(page, tenant, planVersion))),
  getPlanVersion: ({ params }, tenant) =>
    Effect.map(plans.getVersion(params.key, toVersion(params.version)), (found) =>
      ok(planVersion(found, tenant)),
    ),
}))
