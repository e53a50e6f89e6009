/**
 * A table for the values of any resource, in memory.
 */
import {
  type CollectionFilter,
  Id,
  type IdStatus,
  Page,
  Resource,
  StorageError,
  Tenant,
} from "@billwright/core"
import { Exit, Option } from "effect"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

/** Where a value is stored. It shows later changes too. */
export interface CollectionRow<A> {
  readonly id: string
  /** `undefined` when the value was removed, or its insertion was undone. The object is never changed, only replaced. */
  readonly value: A | undefined
}

interface Row<A> extends CollectionRow<A> {
  value: A | undefined
  /** The text that is searched. */
  text: string
}

interface TenantRows<A> {
  readonly tenant: Tenant.Tenant
  readonly stored: IdOrder<Row<A>>
  /** The rows of removed values, for resources that keep their ids. */
  readonly removed: IdOrder<Row<A>>
  /** By the value of the first indexed field. */
  readonly byFirst: Map<unknown, IdOrder<Row<A>>>
}

/** Called for every change of a value, also when a change is undone. `undefined` stands for no value. */
export type Observer<A> = (tenant: Tenant.Tenant, before: A | undefined, after: A | undefined) => void

/** The values of a resource by tenant, in the order of ids. Its methods are synchronous. */
export class CollectionTable<A extends { readonly id: string }> {
  readonly #journal: Journal
  readonly #resource: Resource.Definition
  /** The first indexed field. Lists that filter by it read only the rows with the given value. */
  readonly #first: string | undefined
  readonly #tenants = new Map<string, TenantRows<A>>()
  readonly #observers: Array<Observer<A>> = []

  constructor(journal: Journal, resource: Resource.Definition) {
    this.#journal = journal
    this.#resource = resource
    this.#first = resource.indexed[0]
  }

  observe(observer: Observer<A>): void {
    this.#observers.push(observer)
  }

  /** Gives false when another value has the same value in a unique field. */
  insert(tenant: Tenant.Tenant, value: A): Exit.Exit<boolean, StorageError> {
    if (this.rowOf(tenant, value.id) !== undefined) {
      const { noun, type } = this.#resource
      const cause = new Error(`the ${noun} id ${value.id} is taken`)
      return Exit.fail(
        new StorageError({ operation: `Collections.insert(${type})`, retryable: false, cause }),
      )
    }
    if (this.#isTaken(tenant, value)) return Exit.succeed(false)
    this.#put(this.#of(tenant), value.id, copyOf(value))
    return Exit.succeed(true)
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<A> {
    const value = this.peek(tenant, id)
    return value === undefined ? Option.none() : Option.some(copyOf(value))
  }

  /** The stored value itself. Do not give it out. */
  peek(tenant: Tenant.Tenant, id: string): A | undefined {
    return this.#of(tenant).stored.find(id)?.value
  }

  status(tenant: Tenant.Tenant, id: string): IdStatus {
    const row = this.rowOf(tenant, id)
    if (row === undefined) return "unknown"
    return row.value === undefined ? "removed" : "active"
  }

  /** The row of an id that is stored or removed. */
  rowOf(tenant: Tenant.Tenant, id: string): CollectionRow<A> | undefined {
    const { removed, stored } = this.#of(tenant)
    return stored.find(id) ?? removed.find(id)
  }

  /** Replaces a value. Gives false when there is none, or when it was removed. */
  replace(tenant: Tenant.Tenant, value: A): boolean {
    if (this.peek(tenant, value.id) === undefined) return false
    this.#put(this.#of(tenant), value.id, copyOf(value))
    return true
  }

  remove(tenant: Tenant.Tenant, id: string): boolean {
    const status = this.status(tenant, id)
    if (status === "active") this.#put(this.#of(tenant), id, undefined)
    return status !== "unknown"
  }

  list(
    tenant: Tenant.Tenant,
    { madeBefore, madeFrom, search, ...fields }: CollectionFilter<A>,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<A>, Page.CursorNotFound> {
    if (query.cursor !== undefined && this.rowOf(tenant, query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const rows = this.#of(tenant)
    const wanted = Object.entries(fields).filter(([, value]) => value !== undefined)
    const first = wanted.find(([name]) => name === this.#first)
    const order = first === undefined ? rows.stored : rows.byFirst.get(first[1])
    const { prefix } = this.#resource
    const from = madeFrom === undefined ? "" : Id.firstAt(prefix, madeFrom)
    const before = madeBefore === undefined ? undefined : Id.firstAt(prefix, madeBefore)
    const isWanted = ({ id, text, value }: Row<A>) =>
      id >= from &&
      (before === undefined || id < before) &&
      (search === undefined || text.includes(search)) &&
      wanted.every(([name, field]) => value![name as keyof A] === field)
    const found = order?.sliceWhere(query, isWanted) ?? []
    const fit = Resource.countWithinPage(
      this.#resource,
      found.map(({ value }) => value!),
    )
    return Exit.succeed(
      toPage(found, { ...query, limit: Math.min(query.limit, fit) }, ({ value }) => copyOf(value!)),
    )
  }

  /** Every row of every tenant, by tenant. */
  *rows(): Generator<CollectionRow<A> & { readonly tenant: Tenant.Tenant }> {
    for (const { removed, stored, tenant } of this.#tenants.values()) {
      for (const { id, value } of stored.values()) yield { tenant, id, value: copyOf(value) }
      for (const { id } of removed.values()) yield { tenant, id, value: undefined }
    }
  }

  /** Whether another value has the same value in a unique field. */
  #isTaken(tenant: Tenant.Tenant, value: A): boolean {
    const { unique = [] } = this.#resource
    return unique.some((name) => {
      const field = name as keyof A
      if (value[field] === null) return false
      const rows = this.#of(tenant)
      const same = name === this.#first ? rows.byFirst.get(value[field]) : rows.stored
      return same?.values().some((row) => row.value?.[field] === value[field]) ?? false
    })
  }

  /** Sets or removes the value of an id, and records how to undo it. */
  #put(rows: TenantRows<A>, id: string, value: A | undefined): void {
    const before = rows.stored.find(id)?.value
    this.#set(rows, id, value, this.#resource.keepsId === true)
    this.#journal.wrote(() => this.#set(rows, id, before, false))
  }

  /** Sets or removes a value, updates the orders and calls the observers. */
  #set(rows: TenantRows<A>, id: string, value: A | undefined, keepsId: boolean): void {
    const row = rows.stored.find(id) ?? rows.removed.find(id) ?? { id, value: undefined, text: "" }
    const before = row.value
    row.value = value
    row.text = value === undefined ? "" : (Resource.searchText(this.#resource, value) ?? "")
    if (before === undefined && value !== undefined) {
      rows.removed.remove(row)
      rows.stored.insert(row)
    }
    if (before !== undefined && value === undefined) {
      rows.stored.remove(row)
      if (keepsId) rows.removed.insert(row)
    }
    this.#sort(rows.byFirst, row, before)
    for (const observer of this.#observers) observer(rows.tenant, before, value)
  }

  /** Moves a row to the order of its first indexed field. */
  #sort(byFirst: TenantRows<A>["byFirst"], row: Row<A>, before: A | undefined): void {
    if (this.#first === undefined) return
    const first = this.#first as keyof A
    const [old, now] = [before?.[first], row.value?.[first]]
    if (old === now) return
    if (before !== undefined) {
      const order = byFirst.get(old)
      order?.remove(row)
      if (order?.size === 0) byFirst.delete(old)
    }
    if (row.value !== undefined) {
      const order = byFirst.get(now) ?? new IdOrder<Row<A>>()
      byFirst.set(now, order)
      order.insert(row)
    }
  }

  #of(tenant: Tenant.Tenant): TenantRows<A> {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = {
        tenant: Object.freeze({ ...tenant }),
        stored: new IdOrder(),
        removed: new IdOrder(),
        byFirst: new Map(),
      }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}
