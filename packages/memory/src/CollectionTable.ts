/**
 * A table for the values of any resource, in memory.
 */
import { type CollectionFilter, Page, type Resource, StorageError, Tenant } from "@billwright/core"
import { Exit, Option, Predicate } from "effect"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"

/** The row of a value. */
interface Row<A> {
  readonly id: string
  /** This object is never changed, only replaced. */
  value: A
}

interface TenantRows<A> {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row<A>>
  /** By the value of the first indexed field. */
  readonly byFirst: Map<unknown, IdOrder<Row<A>>>
}

/** Called for every change of a value, also when a change is undone. `undefined` stands for no value. */
export type Observer<A> = (tenant: Tenant.Tenant, before: A | undefined, after: A | undefined) => void

/** Values are copied when they are stored and when they are given out, so both sides may change their objects. */
const copyOf = <A>(value: A): A => {
  if (Array.isArray(value)) return value.map(copyOf) as A
  if (!Predicate.isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copyOf(field)])) as A
}

/** The values of a resource by tenant, in the order of ids. Its methods are synchronous. */
export class CollectionTable<A extends { readonly id: string }> {
  readonly #journal: Journal
  readonly #noun: string
  readonly #type: string
  /** The first indexed field. Lists that filter by it read only the rows with the given value. */
  readonly #first: string | undefined
  readonly #tenants = new Map<string, TenantRows<A>>()
  readonly #observers: Array<Observer<A>> = []

  constructor(journal: Journal, { indexed, noun, type }: Resource.Definition) {
    this.#journal = journal
    this.#noun = noun
    this.#type = type
    this.#first = indexed[0]
  }

  observe(observer: Observer<A>): void {
    this.#observers.push(observer)
  }

  insert(tenant: Tenant.Tenant, value: A): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    if (rows.all.find(value.id) !== undefined) {
      const cause = new Error(`the ${this.#noun} id ${value.id} is taken`)
      return Exit.fail(
        new StorageError({ operation: `Collections.insert(${this.#type})`, retryable: false, cause }),
      )
    }
    this.#put(rows, value.id, copyOf(value))
    return Exit.void
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<A> {
    const row = this.#of(tenant).all.find(id)
    return row === undefined ? Option.none() : Option.some(copyOf(row.value))
  }

  /** The stored value itself. Do not give it out. */
  peek(tenant: Tenant.Tenant, id: string): A | undefined {
    return this.#of(tenant).all.find(id)?.value
  }

  /** Replaces a value. Gives false when there is none, or when it was removed. */
  replace(tenant: Tenant.Tenant, value: A): boolean {
    const rows = this.#of(tenant)
    if (rows.all.find(value.id) === undefined) return false
    this.#put(rows, value.id, copyOf(value))
    return true
  }

  remove(tenant: Tenant.Tenant, id: string): boolean {
    const rows = this.#of(tenant)
    if (rows.all.find(id) === undefined) return false
    this.#put(rows, id, undefined)
    return true
  }

  list(
    tenant: Tenant.Tenant,
    filter: CollectionFilter<A>,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<A>, Page.CursorNotFound> {
    const rows = this.#of(tenant)
    if (query.cursor !== undefined && rows.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined)
    const first = wanted.find(([name]) => name === this.#first)
    const order = first === undefined ? rows.all : rows.byFirst.get(first[1])
    const isWanted = ({ value }: Row<A>) => wanted.every(([name, field]) => value[name as keyof A] === field)
    return Exit.succeed(toPage(order?.sliceWhere(query, isWanted) ?? [], query, ({ value }) => copyOf(value)))
  }

  /** Every value of every tenant, oldest first by tenant. */
  *values(): Generator<{ readonly tenant: Tenant.Tenant; readonly value: A }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const { value } of all.values()) yield { tenant, value: copyOf(value) }
  }

  /** Sets or removes the value of an id, and records how to undo it. */
  #put(rows: TenantRows<A>, id: string, value: A | undefined): void {
    const before = rows.all.find(id)?.value
    this.#set(rows, id, value)
    this.#journal.wrote(() => this.#set(rows, id, before))
  }

  /** Sets or removes a row, updates the orders and calls the observers. */
  #set(rows: TenantRows<A>, id: string, value: A | undefined): void {
    const known = rows.all.find(id)
    const before = known?.value
    if (known !== undefined && (value === undefined || this.#firstOf(value) !== this.#firstOf(known.value))) {
      const order = rows.byFirst.get(this.#firstOf(known.value))
      order?.remove(known)
      if (order?.size === 0) rows.byFirst.delete(this.#firstOf(known.value))
    }
    if (value === undefined) {
      if (known !== undefined) rows.all.remove(known)
    } else {
      const row = known ?? { id, value }
      row.value = value
      if (known === undefined) rows.all.insert(row)
      if (before === undefined || this.#firstOf(before) !== this.#firstOf(value)) {
        const order = rows.byFirst.get(this.#firstOf(value)) ?? new IdOrder<Row<A>>()
        rows.byFirst.set(this.#firstOf(value), order)
        order.insert(row)
      }
    }
    for (const observer of this.#observers) observer(rows.tenant, before, value)
  }

  #firstOf(value: A): unknown {
    return this.#first === undefined ? undefined : value[this.#first as keyof A]
  }

  #of(tenant: Tenant.Tenant): TenantRows<A> {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = { tenant: Object.freeze({ ...tenant }), all: new IdOrder(), byFirst: new Map() }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}
