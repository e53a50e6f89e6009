/**
 * The operations of plans (see `Operations`).
 */
import {
  Catalog,
  type CatalogChanges,
  ExactJson,
  type Plan,
  Plans,
  type Preview,
  type RateCard,
  type Tenant,
} from "@billwright/core"
import { Effect } from "effect"
import type { CatalogChangesBody, PlanBody, PlanPreviewBody, PlanVersionBody } from "../api/PlansApi.ts"
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

const change =
  <Name extends string>(object: Name) =>
  (value: Plan.PlanChange | RateCard.RateCardChange) => ({
    object,
    key: value.key,
    status: value.status,
    version: value.version,
    previous_version: value.previousVersion,
    changes: value.changes,
  })

const catalogChanges = ({ plans, rateCards }: CatalogChanges): typeof CatalogChangesBody.Encoded =>
  Render.completeList([...plans.map(change("plan_change")), ...rateCards.map(change("rate_card_change"))])

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

export const make: Effect.Effect<OperationsOf<"plans">, never, Catalog | Plans> = Effect.gen(function* () {
  const [catalog, plans] = [yield* Catalog, yield* Plans]
  return {
    pushCatalog: ({ payload }) => Effect.map(catalog.push(payload), (changes) => ok(catalogChanges(changes))),
    diffCatalog: ({ payload }) => Effect.map(catalog.diff(payload), (changes) => ok(catalogChanges(changes))),
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
  }
})
