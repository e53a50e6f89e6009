/**
 * Webhook endpoints in memory, and the `EndpointStore` over them.
 */
import {
  Endpoint,
  endpointContext,
  type EndpointOfTenant,
  EndpointStore,
  keyIdOf,
  Page,
  StorageError,
  Tenant,
} from "@billwright/core"
import { type DateTime, Effect, Exit, Option } from "effect"
import { IdOrder, pageOf } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"

/** The row of an endpoint, which shows later changes too. */
export interface EndpointRow {
  readonly id: Endpoint.EndpointId
  readonly tenant: Tenant.Tenant
  /** `undefined` when the endpoint was deleted. */
  readonly stored: Endpoint.StoredEndpoint | undefined
}

interface Row extends EndpointRow {
  stored: Endpoint.StoredEndpoint | undefined
}

interface TenantEndpoints {
  readonly tenant: Tenant.Tenant
  readonly byId: Map<string, Row>
  readonly all: IdOrder<Row>
  readonly byStatus: Readonly<Record<Endpoint.EndpointStatus, IdOrder<Row>>>
}

export const copyOf = (endpoint: Endpoint.Endpoint): Endpoint.Endpoint => ({
  ...endpoint,
  eventTypes: [...endpoint.eventTypes],
  headers: { ...endpoint.headers },
  metadata: { ...endpoint.metadata },
})

const copyOfStored = ({ endpoint, secrets }: Endpoint.StoredEndpoint): Endpoint.StoredEndpoint => ({
  endpoint: copyOf(endpoint),
  secrets: secrets.map((secret) => ({ ...secret })),
})

type SealedPage = Parameters<EndpointStore["Service"]["listSealedByOtherKeys"]>[1]

const placeOf = ({ id, tenant }: Pick<EndpointOfTenant, "tenant" | "id">): string =>
  endpointContext(tenant, id)

const sealedOf = ({ id, stored, tenant }: EndpointRow, now: DateTime.Utc): EndpointOfTenant => ({
  tenant: { ...tenant },
  id,
  sealed: Endpoint.liveSecrets(stored?.secrets ?? [], now.epochMilliseconds).map(({ sealed }) => sealed),
  headers: { ...stored?.endpoint.headers },
})

/** Endpoints by tenant and id, and in the order of ids, in total and by status. Its methods are synchronous. */
export class EndpointTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantEndpoints>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Gives false when the tenant already has `MAX_ENDPOINTS`. */
  insert(tenant: Tenant.Tenant, stored: Endpoint.StoredEndpoint): Exit.Exit<boolean, StorageError> {
    const endpoints = this.#of(tenant)
    const { id } = stored.endpoint
    if (endpoints.byId.has(id)) {
      const cause = new Error(`the endpoint id ${id} is taken`)
      return Exit.fail(new StorageError({ operation: "EndpointStore.insert", retryable: false, cause }))
    }
    if (endpoints.all.size >= Endpoint.MAX_ENDPOINTS) return Exit.succeed(false)
    const row: Row = { id, tenant: endpoints.tenant, stored: undefined }
    endpoints.byId.set(id, row)
    this.#journal.wrote(() => endpoints.byId.delete(id))
    this.#put(endpoints, row, copyOfStored(stored))
    return Exit.succeed(true)
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Endpoint.Endpoint> {
    return Option.map(this.findStored(tenant, id), ({ endpoint }) => endpoint)
  }

  findStored(tenant: Tenant.Tenant, id: string): Option.Option<Endpoint.StoredEndpoint> {
    return Option.map(Option.fromUndefinedOr(this.rowOf(tenant, id)?.stored), copyOfStored)
  }

  /** The row of an endpoint, also of a deleted one. */
  rowOf(tenant: Tenant.Tenant, id: string): EndpointRow | undefined {
    return this.#of(tenant).byId.get(id)
  }

  /** The enabled endpoints whose filters include a type, in the order of their ids. */
  subscribed(tenant: Tenant.Tenant, type: string): Array<EndpointRow> {
    return Array.from(this.#of(tenant).byStatus.enabled.values()).filter(({ stored }) =>
      Endpoint.matchesFilter(stored!.endpoint.eventTypes, type),
    )
  }

  /** Replaces an endpoint. Gives false when there is none, or when it was deleted. */
  replace(tenant: Tenant.Tenant, id: string, stored: Endpoint.StoredEndpoint): boolean {
    const endpoints = this.#of(tenant)
    const row = endpoints.byId.get(id)
    if (row?.stored === undefined) return false
    this.#put(endpoints, row, copyOfStored(stored))
    return true
  }

  delete(tenant: Tenant.Tenant, id: string): boolean {
    const endpoints = this.#of(tenant)
    const row = endpoints.byId.get(id)
    if (row?.stored === undefined) return false
    this.#put(endpoints, row, undefined)
    return true
  }

  /** Sets since when all attempts to an endpoint have failed; `null` after a success. */
  markFailing({ id, stored, tenant }: EndpointRow, failingSince: DateTime.Utc | null): void {
    if (stored === undefined) return
    const endpoints = this.#of(tenant)
    this.#put(endpoints, endpoints.byId.get(id)!, {
      ...stored,
      endpoint: { ...stored.endpoint, failingSince },
    })
  }

  list(
    tenant: Tenant.Tenant,
    { status }: { readonly status: Endpoint.EndpointStatus | undefined },
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Endpoint.Endpoint>, Page.CursorNotFound> {
    const endpoints = this.#of(tenant)
    if (query.cursor !== undefined && !endpoints.byId.has(query.cursor.id)) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = status === undefined ? endpoints.all : endpoints.byStatus[status]
    return Exit.succeed(pageOf([order], query, ({ stored }) => copyOf(stored!.endpoint)))
  }

  /** Reads every endpoint, which is fast enough because keys are changed rarely. */
  listSealedByOtherKeys(
    keyIds: ReadonlyArray<string>,
    { after, limit, now }: SealedPage,
  ): Array<EndpointOfTenant> {
    const isOther = ({ headers, sealed }: EndpointOfTenant): boolean =>
      [...sealed, ...Object.values(headers)].some((one) => !keyIds.includes(keyIdOf(one)))
    const start = after === undefined ? "" : placeOf(after)
    return Array.from(this.rows(), (row) => sealedOf(row, now))
      .filter((endpoint) => isOther(endpoint) && placeOf(endpoint) > start)
      .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      .slice(0, limit)
  }

  /** Every endpoint of a tenant, also deleted ones. */
  rowsOf(tenant: Tenant.Tenant): IterableIterator<EndpointRow> {
    return this.#of(tenant).byId.values()
  }

  /** Every endpoint of every tenant, also deleted ones. */
  *rows(): Generator<EndpointRow> {
    for (const { byId } of this.#tenants.values()) yield* byId.values()
  }

  /** Sets a row and updates the orders. */
  #put(endpoints: TenantEndpoints, row: Row, stored: Endpoint.StoredEndpoint | undefined): void {
    const before = row.stored
    set(endpoints, row, stored)
    this.#journal.wrote(() => set(endpoints, row, before))
  }

  #of(tenant: Tenant.Tenant): TenantEndpoints {
    const key = Tenant.tenantKey(tenant)
    let endpoints = this.#tenants.get(key)
    if (endpoints === undefined) {
      endpoints = {
        tenant: Object.freeze({ ...tenant }),
        byId: new Map(),
        all: new IdOrder(),
        byStatus: { enabled: new IdOrder(), disabled: new IdOrder() },
      }
      this.#tenants.set(key, endpoints)
    }
    return endpoints
  }
}

const set = (
  { all, byStatus }: TenantEndpoints,
  row: Row,
  stored: Endpoint.StoredEndpoint | undefined,
): void => {
  const before = row.stored
  row.stored = stored
  if (before !== undefined) byStatus[before.endpoint.status].remove(row)
  if (stored !== undefined) byStatus[stored.endpoint.status].insert(row)
  if (before === undefined && stored !== undefined) all.insert(row)
  if (before !== undefined && stored === undefined) all.remove(row)
}

/** The port over the table. */
export const endpointStore = (table: EndpointTable, journal: Journal): EndpointStore["Service"] => {
  const verb = journal.tenantVerb

  return EndpointStore.of({
    insert: (stored) => verb((tenant) => table.insert(tenant, stored)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    modify: (id, change) =>
      journal.atomically(
        Effect.gen(function* () {
          const found = yield* verb((tenant) => Exit.succeed(table.findStored(tenant, id)))
          if (Option.isNone(found)) return Option.none()
          const changed = yield* change(found.value)
          const isThere = yield* verb((tenant) => Exit.succeed(table.replace(tenant, id, changed)))
          return isThere ? Option.some(copyOfStored(changed)) : Option.none()
        }),
      ),
    delete: (id) => verb((tenant) => Exit.succeed(table.delete(tenant, id))),
    listSealedByOtherKeys: (keyIds, page) =>
      journal.verb(() => Exit.succeed(table.listSealedByOtherKeys(keyIds, page))),
  })
}
