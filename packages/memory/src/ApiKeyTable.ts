/**
 * API keys in memory, and the `ApiKeyStore` over them.
 */
import { type ApiKey, ApiKeyStore, Page, StorageError, type StoredApiKey, Tenant } from "@billwright/core"
import { type DateTime, Exit, Option } from "effect"
import { IdOrder, pageOf } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"

interface Row {
  readonly id: ApiKey.ApiKeyId
  readonly digest: string
  /** Whether it was expired by a roll. A key is rolled once. */
  isRolled: boolean
  /** This object is never changed, only replaced. */
  key: ApiKey.ApiKey
}

const copyOf = (key: ApiKey.ApiKey): ApiKey.ApiKey => ({
  ...key,
  scopes: [...key.scopes],
  networks: [...key.networks],
  creditLimits: { ...key.creditLimits },
})

/** API keys of all tenants by id and by digest, and of each tenant in the order of ids. Its methods are synchronous. */
export class ApiKeyTable {
  readonly #journal: Journal
  readonly #byId = new Map<string, Row>()
  readonly #byDigest = new Map<string, Row>()
  readonly #orders = new Map<string, IdOrder<Row>>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  insert(tenant: Tenant.Tenant, { digest, key }: StoredApiKey): Exit.Exit<void, StorageError> {
    if (this.#byId.has(key.id) || this.#byDigest.has(digest)) {
      const cause = new Error(`the id or the digest of the API key ${key.id} is taken`)
      return Exit.fail(new StorageError({ operation: "ApiKeyStore.insert", retryable: false, cause }))
    }
    const row: Row = {
      id: key.id,
      digest,
      isRolled: false,
      key: copyOf({ ...key, accountId: tenant.accountId, mode: tenant.mode }),
    }
    const order = this.#orderOf(tenant)
    this.#byId.set(row.id, row)
    this.#byDigest.set(row.digest, row)
    order.insert(row)
    this.#journal.wrote(() => {
      this.#byId.delete(row.id)
      this.#byDigest.delete(row.digest)
      order.remove(row)
    })
    return Exit.void
  }

  findByDigest(digest: string): Option.Option<StoredApiKey> {
    const row = this.#byDigest.get(digest)
    return row === undefined ? Option.none() : Option.some({ key: copyOf(row.key), digest: row.digest })
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<ApiKey.ApiKey> {
    return Option.map(this.#rowOf(tenant, id), ({ key }) => copyOf(key))
  }

  list(
    tenant: Tenant.Tenant,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<ApiKey.ApiKey>, Page.CursorNotFound> {
    if (query.cursor !== undefined && Option.isNone(this.#rowOf(tenant, query.cursor.id))) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    return Exit.succeed(pageOf([this.#orderOf(tenant)], query, ({ key }) => copyOf(key)))
  }

  revoke(tenant: Tenant.Tenant, id: string, at: DateTime.Utc): Option.Option<ApiKey.ApiKey> {
    return Option.map(this.#rowOf(tenant, id), (row) => {
      if (row.key.revokedAt === null) this.#put(row, { ...row.key, revokedAt: at })
      return copyOf(row.key)
    })
  }

  expire(tenant: Tenant.Tenant, id: string, at: DateTime.Utc): Option.Option<ApiKey.ApiKey> {
    const unrolled = Option.filter(this.#rowOf(tenant, id), ({ isRolled }) => !isRolled)
    return Option.map(unrolled, (row) => {
      row.isRolled = true
      this.#journal.wrote(() => {
        row.isRolled = false
      })
      const { expiresAt } = row.key
      const isSooner = expiresAt === null || at.epochMilliseconds < expiresAt.epochMilliseconds
      if (isSooner) this.#put(row, { ...row.key, expiresAt: at })
      return copyOf(row.key)
    })
  }

  touch(id: string, at: DateTime.Utc): void {
    const row = this.#byId.get(id)
    if (row !== undefined) this.#put(row, { ...row.key, lastUsedAt: at })
  }

  /** Every key of every tenant. */
  *rows(): Generator<StoredApiKey> {
    for (const { digest, key } of this.#byId.values()) yield { key: copyOf(key), digest }
  }

  #put(row: Row, key: ApiKey.ApiKey): void {
    const before = row.key
    row.key = key
    this.#journal.wrote(() => {
      row.key = before
    })
  }

  #rowOf(tenant: Tenant.Tenant, id: string): Option.Option<Row> {
    const row = this.#byId.get(id)
    const isOwn = row?.key.accountId === tenant.accountId && row.key.mode === tenant.mode
    return isOwn ? Option.some(row) : Option.none()
  }

  #orderOf(tenant: Tenant.Tenant): IdOrder<Row> {
    const key = Tenant.tenantKey(tenant)
    let order = this.#orders.get(key)
    if (order === undefined) {
      order = new IdOrder()
      this.#orders.set(key, order)
    }
    return order
  }
}

/** The port over the table. */
export const apiKeyStore = (table: ApiKeyTable, journal: Journal): ApiKeyStore["Service"] => {
  const verb = journal.tenantVerb

  return ApiKeyStore.of({
    insert: (stored) => verb((tenant) => table.insert(tenant, stored)),
    findByDigest: (digest) => journal.verb(() => Exit.succeed(table.findByDigest(digest))),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (page) => verb((tenant) => table.list(tenant, page)),
    revoke: (id, at) => verb((tenant) => Exit.succeed(table.revoke(tenant, id, at))),
    expire: (id, at) => verb((tenant) => Exit.succeed(table.expire(tenant, id, at))),
    touch: (id, at) =>
      journal.verb(() => {
        table.touch(id, at)
        return Exit.void
      }),
  })
}
