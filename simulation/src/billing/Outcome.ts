/**
 * What a run has led to, as text that is the same for every run of the same commands: without ids, numbers, and what the
 * wall clock decides.
 */
import { Tenant } from "@billwright/core"
import { canonicalJson } from "@billwright/engine"
import { DateTime, Struct } from "effect"
import type { Books } from "./Books.ts"
import { readSnapshots } from "./Snapshots.ts"

/** What depends on when the runner came by, and in which order. */
const CHANCE = new Set([
  "number",
  "issuedAt",
  "issued_at",
  "dueAt",
  "due_at",
  "asOf",
  "id",
  "customer_id",
  "customerId",
])

/** When it comes depends on when the runner has issued the invoice. That it was due and did not come is checked apart. */
const LATE = "invoice.overdue"

/** Invoices count their changes: how often a draft was computed again depends on the runner. */
const COUNTED = new Set([...CHANCE, "sequence"])

/** A value without some fields, and with amounts as texts. */
const plain = (value: unknown, without: ReadonlySet<string>): unknown => {
  if (typeof value === "bigint") return String(value)
  if (DateTime.isDateTime(value)) return value.epochMilliseconds
  if (Array.isArray(value)) return value.map((one) => plain(one, without))
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !without.has(name))
  return Object.fromEntries(kept.map(([name, field]) => [name, plain(field, without)]))
}

/** Storages keep the fields of an object in orders of their own. */
const textOf = (value: unknown, without: ReadonlySet<string>, names: ReadonlyMap<string, string>): string =>
  canonicalJson(plain(value, without)).replaceAll(
    /(?:cpn|inv|itm|red|sub)_[0-9a-z]{26}/g,
    (id) => names.get(id) ?? id,
  )

/**
 * Names that do not depend on the run: of subscriptions and items by their commands, of invoices by their causes, of
 * coupons by their codes.
 */
const namesOf = ({
  coupons,
  invoices,
  items,
  redemptions,
  subscriptions,
}: Books): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const { subscription } of subscriptions)
    names.set(subscription.id, `s${subscription.metadata["command"]}`)
  for (const { invoice } of invoices) {
    const causes = invoice.causes.map(
      ({ effect, subscriptionId }) =>
        `${names.get(subscriptionId)}.${effect.period.number}.${effect.segment}`,
    )
    const once = invoice.state.lines.map(({ description }) => description)
    names.set(invoice.id, causes.length === 0 ? `once ${once.toSorted().join("+")}` : causes.join("+"))
  }
  for (const { item } of items) names.set(item.id, `i${item.metadata["command"]}`)
  for (const { coupon } of coupons) names.set(coupon.id, coupon.code)
  for (const { redemption } of redemptions) {
    names.set(redemption.id, `${redemption.coupon} of ${names.get(redemption.subscriptionId)}`)
  }
  return names
}

/** What else there is: the same texts for the same things, in any order. */
const othersOf = (books: Books, names: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const text = (value: unknown) => textOf(value, CHANCE, names)
  return [
    ...books.coupons.map(({ coupon }) => `coupon ${text(coupon)}`),
    ...books.redemptions.map(({ redemption }) => `redemption ${text(redemption)}`),
    ...books.items.map(({ item }) => `item ${text(item)}`),
    ...books.creditNotes.map(({ note }) => `credit note ${text(note)}`),
    ...books.clocks.map(({ clock }) => `clock ${text(clock)}`),
    // They are looked at in the order of their ids.
    ...books.migrations.map(
      ({ migration }) =>
        `migration ${text({ ...Struct.omit(migration, ["position", "completedAt"]), failures: migration.failures.length })}`,
    ),
  ]
}

export const outcomeOf = (books: Books): ReadonlyArray<string> => {
  const names = namesOf(books)
  const snapshots = readSnapshots(books)
  const eventsOf = (tenant: Tenant.Tenant, id: string): string =>
    textOf(
      (snapshots.get(`${Tenant.tenantKey(tenant)} ${id}`) ?? [])
        .filter(({ type }) => type !== LATE)
        .map(({ object, type }) => [type, object]),
      COUNTED,
      names,
    )
  const subscriptions = books.subscriptions.map(
    ({ periods, subscription: { id, state }, tenant }) =>
      `${names.get(id)} ${textOf([state, periods], CHANCE, names)} ${eventsOf(tenant, id)}`,
  )
  const invoices = books.invoices.map(
    ({ invoice: { id, state }, tenant }) =>
      `${names.get(id)} ${textOf(state, COUNTED, names)} ${eventsOf(tenant, id)}`,
  )
  return [...subscriptions, ...invoices, ...othersOf(books, names)].toSorted()
}
