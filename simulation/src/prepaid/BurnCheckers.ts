/**
 * The invariants of usage that burns credits: what it burns, and that invoices do what they state.
 */
import { Tenant } from "@billwright/core"
import { erasedIn, type PrepaidBooks } from "./PrepaidBooks.ts"
import { burntIn, CALLS, type Calls } from "./PrepaidPlans.ts"

type Check = (books: PrepaidBooks) => ReadonlyArray<string>
type Stored = PrepaidBooks["invoices"][number]["invoice"]

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

const burnsOf = ({ state: { lines } }: Stored) =>
  lines.flatMap(({ origin }) => {
    const burns = origin?.burns ?? null
    return origin === null || burns === null ? [] : [{ origin, burns }]
  })

/** An invoice burns what it states, once, when it is issued. It gives back what later ones state, or all when it is void. */
export const invoicesBurnWhatTheyState: Check = ({ credits, invoices }) => {
  const entries = credits.flatMap((rows) => rows.entries)
  const issued = invoices.flatMap(({ invoice }) => (invoice.state.status === "draft" ? [] : [invoice]))
  const back = Map.groupBy(
    issued.flatMap(burnsOf).flatMap(({ burns }) => (burns.of === null ? [] : [burns])),
    ({ of }) => of!.invoiceId,
  )
  return invoices.flatMap(({ invoice }) => {
    const { id, state } = invoice
    const own = entries.filter(({ invoiceId, unit }) => invoiceId === id && unit !== state.currency)
    const of = (kind: string) =>
      sumOf(own.flatMap((entry) => (entry.kind === kind ? [entry.debt - entry.available] : [])))
    const positive = burnsOf(invoice).flatMap(({ burns }) => (burns.amount > 0n ? [burns.amount] : []))
    const stated = state.status === "draft" ? 0n : sumOf(positive)
    const later = -sumOf((back.get(id) ?? []).map(({ amount }) => amount))
    const restored = state.status === "void" ? stated : later
    return [
      ...(of("burn") === stated ? [] : [`${id} states that it burns ${stated}, and burnt ${of("burn")}`]),
      ...(-of("restore") === restored
        ? []
        : [`${id} has to give back ${restored}, and gave ${-of("restore")} of what it burnt`]),
    ]
  })
}

const callsOf = (
  { records }: PrepaidBooks,
  tenant: Tenant.Tenant,
  customerId: string,
): ReadonlyArray<Calls> =>
  records.flatMap(({ record, tenant: owner }) => {
    const isOwn = Tenant.tenantKey(owner) === Tenant.tenantKey(tenant) && record.customerId === customerId
    const isCall = record.productId === CALLS.productId && record.unit === CALLS.unit
    if (!isOwn || !isCall || record.voidedAt !== null) return []
    return [{ at: record.timestamp.epochMilliseconds, count: Number(record.quantity) }]
  })

/** What the invoices of a period state that it burns is what its calls burn, one by one, when late usage is billed. */
export const usageBurnsOnce: Check = (books) => {
  const erased = erasedIn(books)
  return books.subscriptions.flatMap(({ periods, subscription: { customerId, id }, tenant }) => {
    // Nobody bills late usage of a customer who was erased.
    if (erased.has(customerId)) return []
    const calls = callsOf(books, tenant, customerId)
    const lines = books.invoices.flatMap(({ invoice }) =>
      burnsOf(invoice)
        .filter(({ origin }) => origin.subscriptionId === id)
        .map(({ burns, origin }) => ({
          ...burns,
          period: origin.period,
          isVoid: invoice.state.status === "void",
        })),
    )
    return periods.flatMap((period) => {
      const own = lines.filter((line) => line.period === period.number)
      const stated = sumOf(own.map(({ gross }) => gross))
      const right = BigInt(burntIn(period, calls))
      // Of void lines, nothing is left to give back.
      const left = sumOf(own.map(({ amount, isVoid }) => (isVoid && amount > 0n ? 0n : amount)))
      if (stated === right || (stated > right && left <= 0n)) return []
      return [`invoices burn ${stated} for period ${period.number} of ${id}, which costs ${right}`]
    })
  })
}
