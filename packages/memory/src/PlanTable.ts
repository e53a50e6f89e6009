/**
 * Plans and their versions in memory, and the `PlanStore` over them.
 */
import { Page, type Plan, PlanStore, type RenamedPlan, StorageError, Tenant } from "@billwright/core"
import { Exit, Option } from "effect"
import { frozen } from "./Frozen.ts"
import { IdOrder, pageOf } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

interface Row {
  readonly id: string
  /** This object is never changed, only replaced. */
  plan: Plan.Plan
  /** In the order of their numbers, which is that of their ids. Versions are only added, and are frozen. */
  readonly versions: Array<Plan.PlanVersion>
  readonly versionOrder: IdOrder<Plan.PlanVersion>
}

interface TenantPlans {
  readonly tenant: Tenant.Tenant
  readonly byKey: Map<string, Row>
  readonly all: IdOrder<Row>
}

const versionOf = ({ hash, key, terms, updatedAt, version, versionId }: Plan.Plan): Plan.PlanVersion => ({
  id: versionId,
  planKey: key,
  version,
  hash,
  terms,
  createdAt: updatedAt,
})

const refused = (problem: string): Exit.Exit<never, StorageError> =>
  Exit.fail(new StorageError({ operation: "PlanStore.publish", retryable: false, cause: new Error(problem) }))

/** Plans by tenant and key, each with its versions. Its methods are synchronous. */
export class PlanTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantPlans>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  findAll(tenant: Tenant.Tenant, keys: ReadonlyArray<string>): ReadonlyArray<Plan.Plan> {
    const { byKey } = this.#of(tenant)
    return [...new Set(keys)].flatMap((key) => {
      const row = byKey.get(key)
      return row === undefined ? [] : [copyOf(row.plan)]
    })
  }

  list(tenant: Tenant.Tenant, query: Page.PageQuery): Exit.Exit<Page.Page<Plan.Plan>, Page.CursorNotFound> {
    return pageFrom(this.#of(tenant).all, query, ({ plan }) => copyOf(plan))
  }

  findVersion(tenant: Tenant.Tenant, key: string, version: number): Option.Option<Plan.PlanVersion> {
    const found = this.#of(tenant).byKey.get(key)?.versions[version - 1]
    return Option.fromUndefinedOr(found)
  }

  listVersions(
    tenant: Tenant.Tenant,
    key: string,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Plan.PlanVersion>, Page.CursorNotFound> {
    const order = this.#of(tenant).byKey.get(key)?.versionOrder ?? new IdOrder<Plan.PlanVersion>()
    return pageFrom(order, query, (version) => version)
  }

  publish(tenant: Tenant.Tenant, published: Plan.Plan): Exit.Exit<void, StorageError> {
    const plans = this.#of(tenant)
    const plan = copyOf(published)
    const known = plans.byKey.get(plan.key)
    if (plan.version !== (known?.versions.length ?? 0) + 1) {
      return refused(`version ${plan.version} of the plan ${plan.key} does not follow the stored ones`)
    }
    if (known === undefined && plans.all.find(plan.id) !== undefined) {
      return refused(`the plan id ${plan.id} is taken`)
    }
    const row = known ?? { id: plan.id, plan, versions: [], versionOrder: new IdOrder() }
    if (known === undefined) this.#insert(plans, row)
    else this.#replace(row, plan)
    const version = frozen(versionOf(plan))
    row.versions.push(version)
    row.versionOrder.insert(version)
    this.#journal.wrote(() => {
      row.versions.pop()
      row.versionOrder.remove(version)
    })
    return Exit.void
  }

  rename(tenant: Tenant.Tenant, { description, key, name, updatedAt }: RenamedPlan): void {
    const row = this.#of(tenant).byKey.get(key)
    if (row !== undefined) this.#replace(row, { ...row.plan, name, description, updatedAt })
  }

  /** Every plan of every tenant. */
  *plans(): Generator<{ readonly tenant: Tenant.Tenant; readonly plan: Plan.Plan }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const { plan } of all.values()) yield { tenant, plan: copyOf(plan) }
  }

  /** Every version of every plan. */
  *versions(): Generator<{ readonly tenant: Tenant.Tenant; readonly version: Plan.PlanVersion }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const { versions } of all.values()) for (const version of versions) yield { tenant, version }
  }

  #insert({ all, byKey }: TenantPlans, row: Row): void {
    byKey.set(row.plan.key, row)
    all.insert(row)
    this.#journal.wrote(() => {
      byKey.delete(row.plan.key)
      all.remove(row)
    })
  }

  #replace(row: Row, plan: Plan.Plan): void {
    const before = row.plan
    row.plan = plan
    this.#journal.wrote(() => {
      row.plan = before
    })
  }

  #of(tenant: Tenant.Tenant): TenantPlans {
    const key = Tenant.tenantKey(tenant)
    let plans = this.#tenants.get(key)
    if (plans === undefined) {
      plans = { tenant: Object.freeze({ ...tenant }), byKey: new Map(), all: new IdOrder() }
      this.#tenants.set(key, plans)
    }
    return plans
  }
}

const pageFrom = <R extends { readonly id: string }, A>(
  order: IdOrder<R>,
  query: Page.PageQuery,
  toValue: (row: R) => A,
): Exit.Exit<Page.Page<A>, Page.CursorNotFound> =>
  query.cursor !== undefined && order.find(query.cursor.id) === undefined
    ? Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    : Exit.succeed(pageOf([order], query, toValue))

/** The port over the table. */
export const planStore = (table: PlanTable, journal: Journal): PlanStore["Service"] => {
  const verb = journal.tenantVerb
  return PlanStore.of({
    // Transactions run one after another, so the one that runs holds everything.
    lock: verb(() => Exit.void),
    findAll: (keys) => verb((tenant) => Exit.succeed(table.findAll(tenant, keys))),
    list: (page) => verb((tenant) => table.list(tenant, page)),
    findVersion: (key, version) => verb((tenant) => Exit.succeed(table.findVersion(tenant, key, version))),
    listVersions: (key, page) => verb((tenant) => table.listVersions(tenant, key, page)),
    publish: (plan) => verb((tenant) => table.publish(tenant, plan)),
    rename: (plan) =>
      verb((tenant) => {
        table.rename(tenant, plan)
        return Exit.void
      }),
  })
}
