/**
 * The rules of invoice groups: which subscriptions share an invoice.
 */
import { type Invoice, type Subscription, Tenant } from "@billwright/core"
import type { Books } from "./Books.ts"

type Stored = Subscription.StoredSubscription

/** An invoice of one subscription names it. Those of several are of one group and currency. */
const problemsOfInvoice = (
  { causes, id, subscriptionId }: Invoice.StoredInvoice,
  owners: ReadonlyArray<Stored | undefined>,
): ReadonlyArray<string> => {
  const billed = new Set(causes.map((cause) => cause.subscriptionId))
  if (billed.size < 2) {
    const only = causes[0]?.subscriptionId ?? null
    return only === subscriptionId ? [] : [`${id} is of ${only}, and names ${subscriptionId}`]
  }
  const groups = new Set(
    owners.map((one) => `${one?.customerId} ${one?.invoiceGroup} ${one?.state.currency}`),
  )
  const isGrouped = owners.every((one) => (one?.invoiceGroup ?? null) !== null)
  return groups.size === 1 && isGrouped && subscriptionId === null
    ? []
    : [`${id} is of several subscriptions that are not one group`]
}

/** What falls due for several subscriptions of a group at one instant is on one invoice. */
export const groupsShareInvoices = ({ invoices, subscriptions }: Books): ReadonlyArray<string> => {
  const keyed = (tenant: Tenant.Tenant, id: string) => `${Tenant.tenantKey(tenant)} ${id}`
  const known = new Map(
    subscriptions.map(({ subscription, tenant }) => [keyed(tenant, subscription.id), subscription]),
  )
  const renewed = invoices.flatMap(({ invoice, tenant }) =>
    invoice.causes.flatMap(({ effect, subscriptionId }) => {
      const owner = known.get(keyed(tenant, subscriptionId))
      // What a command bills at once is on an invoice of its own. A renewal begins a whole period.
      const isRenewal = effect.kind === "invoice" && effect.at === effect.period.start && effect.segment === 0
      if (owner === undefined || owner.invoiceGroup === null || !isRenewal) return []
      if (owner.createdAt.epochMilliseconds >= effect.at) return []
      const group = `${owner.customerId} ${owner.invoiceGroup} ${owner.state.currency} at ${effect.at}`
      return [{ group, id: invoice.id }]
    }),
  )
  const apart = [...Map.groupBy(renewed, ({ group }) => group)].flatMap(([group, all]) => {
    const ids = new Set(all.map(({ id }) => id))
    return ids.size === 1 ? [] : [`${group} has ${ids.size} invoices: ${[...ids].join(", ")}`]
  })
  const mixed = invoices.flatMap(({ invoice, tenant }) =>
    problemsOfInvoice(
      invoice,
      invoice.causes.map(({ subscriptionId }) => known.get(keyed(tenant, subscriptionId))),
    ),
  )
  return [...mixed, ...apart]
}
