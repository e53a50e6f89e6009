/**
 * Credits in memory, and the `CreditStore` over them.
 */
import {
  type AccountSums,
  type Credit,
  type CreditEntryFilter,
  type CreditGrantFilter,
  CreditStore,
  type Hold,
  MAX_AUDITED_GRANTS,
  Page,
  StorageError,
  type StoredChange,
  type StoredLedger,
  Tenant,
} from "@billwright/core"
import { Exit, Option } from "effect"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

interface Row<A> {
  readonly id: string
  value: A
}

type Account = StoredLedger["account"]

/** What an operation on one account may look at. Grants and holds that are over are not among it. */
interface AccountRows {
  readonly key: Credit.AccountKey
  account: Account
  levels: ReadonlyArray<bigint>
  readonly liveGrants: Map<string, Row<Credit.StoredGrant>>
  readonly openHolds: Map<string, Row<Hold.StoredHold>>
  readonly grantKeys: Map<string, Credit.StoredGrant["id"]>
  /** The grants that something has made by itself, by that. */
  readonly grantSources: Map<string, Credit.StoredGrant["id"]>
  readonly holdKeys: Map<string, Hold.HoldId>
  readonly consumptionKeys: Map<string, Credit.StoredConsumption>
}

interface TenantRows {
  readonly tenant: Tenant.Tenant
  readonly accounts: Map<string, AccountRows>
  readonly grants: IdOrder<Row<Credit.StoredGrant>>
  readonly holds: IdOrder<Row<Hold.StoredHold>>
  readonly entries: IdOrder<Credit.StoredEntry>
}

const EMPTY: Account = { available: 0n, scoped: 0n, held: 0n, debt: 0n, openHolds: 0, sequence: 0 }

const isLive = ({ available, held, status }: Credit.StoredGrant): boolean =>
  status === "pending" || available > 0n || held > 0n

const nameOf = ({ customerId, unit }: Credit.AccountKey): string => JSON.stringify([customerId, unit])

const sourceName = (source: Credit.GrantSource | null): string | null =>
  source === null ? null : JSON.stringify([source.type, source.id, source.period])

const refused = (problem: string): Exit.Exit<never, StorageError> =>
  Exit.fail(new StorageError({ operation: "CreditStore.write", retryable: false, cause: new Error(problem) }))

/** Credits by tenant. Its methods are synchronous. */
export class CreditTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantRows>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  open(tenant: Tenant.Tenant, key: Credit.AccountKey): void {
    const { accounts } = this.#of(tenant)
    const name = nameOf(key)
    if (accounts.has(name)) return
    const { customerId, unit } = key
    accounts.set(name, {
      key: { customerId, unit },
      account: EMPTY,
      levels: [],
      liveGrants: new Map(),
      openHolds: new Map(),
      grantKeys: new Map(),
      grantSources: new Map(),
      holdKeys: new Map(),
      consumptionKeys: new Map(),
    })
    this.#journal.wrote(() => accounts.delete(name))
  }

  read(tenant: Tenant.Tenant, key: Credit.AccountKey, now: number): StoredLedger {
    const rows = this.#of(tenant).accounts.get(nameOf(key))
    if (rows === undefined) return { account: EMPTY, grants: [], holds: [], levels: [] }
    return copyOf({
      account: rows.account,
      grants: Array.from(rows.liveGrants.values(), ({ value }) => value),
      holds: Array.from(rows.openHolds.values(), ({ value }) => value).filter(
        ({ expiresAt }) => expiresAt <= now,
      ),
      levels: rows.levels,
    })
  }

  watch(
    tenant: Tenant.Tenant,
    key: Credit.AccountKey,
    levels: ReadonlyArray<bigint>,
  ): Exit.Exit<void, StorageError> {
    const account = this.#of(tenant).accounts.get(nameOf(key))
    if (account === undefined) return refused("there is no such account")
    const before = account.levels
    account.levels = copyOf(levels)
    this.#journal.wrote(() => {
      account.levels = before
    })
    return Exit.void
  }

  write(tenant: Tenant.Tenant, key: Credit.AccountKey, change: StoredChange): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const account = rows.accounts.get(nameOf(key))
    if (account === undefined) return refused("there is no such account")
    const problem = problemOf(account, change)
    if (problem !== undefined) return refused(problem)
    const before = account.account
    account.account = copyOf(change.account)
    this.#journal.wrote(() => {
      account.account = before
    })
    for (const grant of change.grants) {
      this.#put(rows.grants, account.liveGrants, copyOf(grant), isLive(grant))
      this.#remember(account.grantKeys, grant.idempotencyKey, grant.id)
      this.#remember(account.grantSources, sourceName(grant.source), grant.id)
    }
    for (const hold of change.holds) {
      this.#put(rows.holds, account.openHolds, copyOf(hold), hold.status === "open")
      this.#remember(account.holdKeys, hold.idempotencyKey, hold.id)
    }
    for (const given of change.entries) {
      const entry = copyOf(given)
      if (!rows.entries.insert(entry)) return refused(`the entry id ${entry.id} is taken`)
      this.#journal.wrote(() => rows.entries.remove(entry))
    }
    const { consumption } = change
    if (consumption !== null) {
      this.#remember(account.consumptionKeys, consumption.idempotencyKey, copyOf(consumption))
    }
    return Exit.void
  }

  unitsOf(
    tenant: Tenant.Tenant,
    customerId: string,
    after: string | undefined,
    limit: number,
  ): ReadonlyArray<string> {
    return Array.from(this.#of(tenant).accounts.values(), ({ key }) => key)
      .filter((key) => key.customerId === customerId && (after === undefined || key.unit > after))
      .map(({ unit }) => unit)
      .toSorted(compareTexts)
      .slice(0, limit)
  }

  findGrant(tenant: Tenant.Tenant, id: string): Option.Option<Credit.StoredGrant> {
    return valueOf(this.#of(tenant).grants.find(id))
  }

  findHold(tenant: Tenant.Tenant, id: string): Option.Option<Hold.StoredHold> {
    return valueOf(this.#of(tenant).holds.find(id))
  }

  grantByKey(tenant: Tenant.Tenant, key: Credit.AccountKey, idempotencyKey: string) {
    const id = this.#of(tenant).accounts.get(nameOf(key))?.grantKeys.get(idempotencyKey)
    return id === undefined ? Option.none() : this.findGrant(tenant, id)
  }

  grantOfSource(tenant: Tenant.Tenant, key: Credit.AccountKey, source: Credit.GrantSource) {
    const name = sourceName(source)
    const sources = this.#of(tenant).accounts.get(nameOf(key))?.grantSources
    const id = name === null ? undefined : sources?.get(name)
    return id === undefined ? Option.none() : this.findGrant(tenant, id)
  }

  holdByKey(tenant: Tenant.Tenant, key: Credit.AccountKey, idempotencyKey: string) {
    const id = this.#of(tenant).accounts.get(nameOf(key))?.holdKeys.get(idempotencyKey)
    return id === undefined ? Option.none() : this.findHold(tenant, id)
  }

  consumptionByKey(tenant: Tenant.Tenant, key: Credit.AccountKey, idempotencyKey: string) {
    const found = this.#of(tenant).accounts.get(nameOf(key))?.consumptionKeys.get(idempotencyKey)
    return Option.map(Option.fromUndefinedOr(found), copyOf)
  }

  listGrants(
    tenant: Tenant.Tenant,
    { customerId, unit }: CreditGrantFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Credit.StoredGrant>, Page.CursorNotFound> {
    return listed(
      this.#of(tenant).grants,
      query,
      ({ value }) => isOf(value, customerId, unit),
      ({ value }) => copyOf(value),
    )
  }

  listHolds(
    tenant: Tenant.Tenant,
    { customerId, unit }: CreditGrantFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Hold.StoredHold>, Page.CursorNotFound> {
    return listed(
      this.#of(tenant).holds,
      query,
      ({ value }) => isOf(value, customerId, unit),
      ({ value }) => copyOf(value),
    )
  }

  listEntries(
    tenant: Tenant.Tenant,
    { customerId, grantId, invoiceId, kind, since = 0, unit }: CreditEntryFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Credit.StoredEntry>, Page.CursorNotFound> {
    return listed(
      this.#of(tenant).entries,
      query,
      (entry) =>
        isOf(entry, customerId, unit) &&
        (grantId === undefined || entry.grantId === grantId) &&
        (invoiceId === undefined || entry.invoiceId === invoiceId) &&
        (kind === undefined || entry.kind === kind) &&
        entry.at >= since,
      copyOf,
    )
  }

  audit(
    tenant: Tenant.Tenant,
    after: Credit.AccountKey | undefined,
    limit: number,
  ): ReadonlyArray<AccountSums> {
    const { accounts, entries, grants, holds } = this.#of(tenant)
    return Array.from(accounts.values())
      .filter(({ key }) => after === undefined || compareKeys(key, after) > 0)
      .toSorted((a, b) => compareKeys(a.key, b.key))
      .slice(0, limit)
      .map(({ account, key }) => {
        const isOwn = (row: Credit.AccountKey) => isOf(row, key.customerId, key.unit)
        const own = allOf(entries).filter(isOwn)
        const open = valuesOf(holds).filter((hold) => isOwn(hold) && hold.status === "open")
        return {
          key,
          account: copyOf(account),
          entries: {
            ...sumOf(own),
            count: own.length,
            last: Math.max(0, ...own.map(({ sequence }) => sequence)),
          },
          openHolds: { count: open.length, amount: open.reduce((sum, { amount }) => sum + amount, 0n) },
          grants: valuesOf(grants)
            .filter(isOwn)
            .toReversed()
            .flatMap(unlike(own))
            .slice(0, MAX_AUDITED_GRANTS),
        }
      })
  }

  /** Everything, by tenant. */
  *rows() {
    for (const { accounts, entries, grants, holds, tenant } of this.#tenants.values()) {
      // Reading makes an empty one.
      if (accounts.size === 0) continue
      yield {
        tenant,
        accounts: Array.from(accounts.values(), ({ account, key }) => ({ ...key, ...account })),
        grants: valuesOf(grants).map(copyOf),
        holds: valuesOf(holds).map(copyOf),
        entries: allOf(entries).map(copyOf),
        consumptions: Array.from(accounts.values()).flatMap(({ consumptionKeys }) =>
          Array.from(consumptionKeys.values(), copyOf),
        ),
      }
    }
  }

  #put<A extends { readonly id: string }>(
    order: IdOrder<Row<A>>,
    current: Map<string, Row<A>>,
    value: A,
    isCurrent: boolean,
  ): void {
    const known = order.find(value.id)
    const row: Row<A> = known ?? { id: value.id, value }
    const [before, wasCurrent] = [row.value, current.has(row.id)]
    row.value = value
    if (known === undefined) order.insert(row)
    if (isCurrent) current.set(row.id, row)
    else current.delete(row.id)
    this.#journal.wrote(() => {
      row.value = before
      if (known === undefined) order.remove(row)
      if (wasCurrent) current.set(row.id, row)
      else current.delete(row.id)
    })
  }

  #remember<A>(keys: Map<string, A>, key: string | null, value: A): void {
    if (key === null || keys.has(key)) return
    keys.set(key, value)
    this.#journal.wrote(() => keys.delete(key))
  }

  #of(tenant: Tenant.Tenant): TenantRows {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = {
        tenant,
        accounts: new Map(),
        grants: new IdOrder(),
        holds: new IdOrder(),
        entries: new IdOrder(),
      }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}

/** All rows, newest first. */
const allOf = <R extends { readonly id: string }>(order: IdOrder<R>): ReadonlyArray<R> =>
  order.slice({ limit: order.size, cursor: undefined })

const valuesOf = <A extends { readonly id: string }>(order: IdOrder<Row<A>>): ReadonlyArray<A> =>
  allOf(order).map(({ value }) => value)

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
const compareKeys = (a: Credit.AccountKey, b: Credit.AccountKey): number =>
  compareTexts(a.customerId, b.customerId) || compareTexts(a.unit, b.unit)

const sumOf = (entries: ReadonlyArray<Credit.StoredEntry>) => ({
  available: entries.reduce((sum, { available }) => sum + available, 0n),
  scoped: entries.reduce((sum, { scoped }) => sum + scoped, 0n),
  held: entries.reduce((sum, { held }) => sum + held, 0n),
  debt: entries.reduce((sum, { debt }) => sum + debt, 0n),
})

/** A grant that is not the sum of its entries. */
const unlike =
  (all: ReadonlyArray<Credit.StoredEntry>) =>
  ({ available, held, id }: Credit.StoredGrant): AccountSums["grants"] => {
    const sums = sumOf(all.filter(({ grantId }) => grantId === id))
    const entries = { available: sums.available + sums.scoped, held: sums.held }
    const isSame = entries.available === available && entries.held === held
    return isSame ? [] : [{ id, stated: { available, held }, entries }]
  }

const valueOf = <A>(row: Row<A> | undefined): Option.Option<A> =>
  Option.map(Option.fromUndefinedOr(row), ({ value }) => copyOf(value))

const isOf = (value: Credit.AccountKey, customerId: string | undefined, unit: string | undefined): boolean =>
  (customerId === undefined || value.customerId === customerId) && (unit === undefined || value.unit === unit)

const listed = <R extends { readonly id: string }, A>(
  order: IdOrder<R>,
  query: Page.PageQuery,
  isWanted: (row: R) => boolean,
  toValue: (row: R) => A,
): Exit.Exit<Page.Page<A>, Page.CursorNotFound> => {
  if (query.cursor !== undefined && order.find(query.cursor.id) === undefined) {
    return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
  }
  return Exit.succeed(toPage(order.sliceWhere(query, isWanted), query, toValue))
}

const isNegative = ({ available, held }: { readonly available: bigint; readonly held: bigint }): boolean =>
  available < 0n || held < 0n

/** Which rule a change breaks. */
const problemOf = (
  { consumptionKeys, grantKeys, grantSources, holdKeys }: AccountRows,
  { account, consumption, grants, holds }: StoredChange,
): string | undefined => {
  if (isNegative(account) || account.debt < 0n || account.scoped < 0n)
    return "an amount of the account is below 0"
  if (account.available > 0n && account.debt > 0n) return "the account has credits and a debt"
  for (const grant of grants) {
    if (isNegative(grant)) return "an amount of a grant is below 0"
    const isTooMuch = grant.kind !== "plan" && grant.available + grant.held > grant.amount
    if (isTooMuch) return "more is left of a grant than was granted"
    if (isTaken(grantKeys, grant, grant.idempotencyKey)) return "another grant has the key"
    if (isTaken(grantSources, grant, sourceName(grant.source))) return "another grant has the source"
  }
  for (const hold of holds) {
    if (isTaken(holdKeys, hold, hold.idempotencyKey)) return "another hold has the key"
  }
  const key = consumption?.idempotencyKey ?? null
  if (key !== null && consumptionKeys.has(key)) {
    return "another consumption has the key"
  }
  return undefined
}

const isTaken = (
  keys: ReadonlyMap<string, string>,
  { id }: { readonly id: string },
  key: string | null,
): boolean => key !== null && (keys.get(key) ?? id) !== id

/** The port over the table. */
export const creditStore = (table: CreditTable, journal: Journal): CreditStore["Service"] => {
  const verb = journal.tenantVerb
  return CreditStore.of({
    lock: (key, now, mode) =>
      verb((tenant) => {
        if (mode === "open") table.open(tenant, key)
        return Exit.succeed(table.read(tenant, key, now))
      }),
    read: (key, now) => verb((tenant) => Exit.succeed(table.read(tenant, key, now))),
    write: (key, change) => verb((tenant) => table.write(tenant, key, change)),
    watch: (key, levels) => verb((tenant) => table.watch(tenant, key, levels)),
    unitsOf: (customerId, after, limit) =>
      verb((tenant) => Exit.succeed(table.unitsOf(tenant, customerId, after, limit))),
    findGrant: (id) => verb((tenant) => Exit.succeed(table.findGrant(tenant, id))),
    findHold: (id) => verb((tenant) => Exit.succeed(table.findHold(tenant, id))),
    grantByKey: (key, text) => verb((tenant) => Exit.succeed(table.grantByKey(tenant, key, text))),
    grantOfSource: (key, source) => verb((tenant) => Exit.succeed(table.grantOfSource(tenant, key, source))),
    holdByKey: (key, text) => verb((tenant) => Exit.succeed(table.holdByKey(tenant, key, text))),
    consumptionByKey: (key, text) =>
      verb((tenant) => Exit.succeed(table.consumptionByKey(tenant, key, text))),
    listGrants: (filter, page) => verb((tenant) => table.listGrants(tenant, filter, page)),
    listHolds: (filter, page) => verb((tenant) => table.listHolds(tenant, filter, page)),
    listEntries: (filter, page) => verb((tenant) => table.listEntries(tenant, filter, page)),
    audit: (after, limit) => verb((tenant) => Exit.succeed(table.audit(tenant, after, limit))),
  })
}
