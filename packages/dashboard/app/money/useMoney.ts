/**
 * What the figures of money are made of. The API has lists and no sums, so the lists are read up to a limit, and what is
 * beyond it is said.
 */
import { useQuery } from "@tanstack/react-query"
import type { Client } from "../api/Client.ts"
import { listAll, type Listed } from "../api/listAll.ts"
import type { Invoice, Payment, PlanVersion, Subscription } from "../api/Types.ts"
import { sum } from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import * as Fraction from "./Fraction.ts"
import { monthly } from "./Sums.ts"

/** The most pages of each list that are read: 2,000 items. */
const MAX_PAGES = 20
/** The most different prices that are asked for: a plan, its version, a currency and quantities. */
const MAX_PRICES = 200
/** The most subscriptions whose usage is added up: each is a request. */
const MAX_USAGE = 100
/** How many of these requests are under way at the same time. */
const AT_ONCE = 5
/** How often lists that fill several pages are read again, in milliseconds. */
const REFRESH_MILLIS = 60_000

export const useAllInvoices = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["money", "invoices"],
    queryFn: ({ signal }): Promise<Listed<Invoice>> =>
      listAll(MAX_PAGES, (query) => client.call("get", "/v1/invoices", { query, signal })),
    refetchInterval: REFRESH_MILLIS,
  })
}

export const useCollected = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["money", "payments"],
    queryFn: ({ signal }): Promise<Listed<Payment>> =>
      listAll(MAX_PAGES, (page) =>
        client.call("get", "/v1/payments", { query: { status: "succeeded", ...page }, signal }),
      ),
    refetchInterval: REFRESH_MILLIS,
  })
}

const listActive = (client: Client, signal: AbortSignal): Promise<Listed<Subscription>> =>
  listAll(MAX_PAGES, (page) =>
    client.call("get", "/v1/subscriptions", { query: { phase: "active", ...page }, signal }),
  )

/** Works on all items, some at the same time. */
const each = async <A, B>(items: ReadonlyArray<A>, work: (item: A) => Promise<B>): Promise<Array<B>> => {
  const done: Array<B> = []
  for (let at = 0; at < items.length; at += AT_ONCE)
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  return done
}

/** Subscriptions with the same price have the same key. */
const priceKey = ({ currency, plan, quantities }: Subscription): string =>
  JSON.stringify([plan.key, plan.version, currency, Object.entries(quantities).toSorted()])

/** The quantities of a subscription by the keys of the charges that count them. Usage is left out: it counts as none. */
const quantitiesOf = ({ terms }: PlanVersion, { quantities }: Subscription): Record<string, string> =>
  Object.fromEntries(
    terms.charges.flatMap((charge) => {
      const name = charge.model === "flat" ? undefined : charge.quantity
      const quantity = name === undefined ? undefined : quantities[name]
      return quantity === undefined ? [] : [[charge.key, quantity]]
    }),
  )

/** What a subscription costs a month without usage. */
const monthlyOf = async (client: Client, subscription: Subscription, signal: AbortSignal) => {
  const { key, version } = subscription.plan
  const stored = await client.call("get", "/v1/plans/{key}/versions/{version}", {
    path: { key, version: version as number & string },
    signal,
  })
  const preview = await client.call("post", "/v1/catalog/preview", {
    body: {
      plan: key,
      version,
      currency: subscription.currency,
      quantities: quantitiesOf(stored, subscription),
    },
    signal,
  })
  return monthly(BigInt(preview.total), stored.terms.interval)
}

export interface Recurring {
  /** What active subscriptions cost a month without usage and before discounts, by currency, rounded once. */
  readonly byCurrency: ReadonlyMap<string, bigint>
  readonly count: number
  readonly isCut: boolean
}

const recurring = async (client: Client, signal: AbortSignal): Promise<Recurring> => {
  const { isCut, items } = await listActive(client, signal)
  const groups = Map.groupBy(items, priceKey)
  const priced = [...groups.values()].slice(0, MAX_PRICES)
  const sums = new Map<string, Fraction.Fraction>()
  await each(priced, async (same) => {
    const [first] = same
    if (first === undefined) return
    const { denominator, numerator } = await monthlyOf(client, first, signal)
    const together = { numerator: numerator * BigInt(same.length), denominator }
    sums.set(first.currency, Fraction.add(sums.get(first.currency) ?? Fraction.zero, together))
  })
  return {
    byCurrency: new Map([...sums].map(([currency, total]) => [currency, Fraction.round(total)])),
    count: items.length,
    isCut: isCut || groups.size > MAX_PRICES,
  }
}

export const useRecurring = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["money", "recurring"],
    queryFn: ({ signal }) => recurring(client, signal),
    staleTime: REFRESH_MILLIS,
  })
}

export interface UnbilledUsage {
  readonly subscription: Subscription
  readonly amount: bigint
}

/** The usage of a subscription that no invoice bills yet. */
const unbilledOf = async (client: Client, subscription: Subscription, signal: AbortSignal) => {
  const query = { subscription_id: subscription.id }
  const { invoice } = await client.call("get", "/v1/invoices/upcoming", { query, signal })
  const lines = (invoice?.lines ?? []).filter(
    ({ kind, subscription_id: id }) => kind === "usage" && id === subscription.id,
  )
  return { subscription, amount: sum(lines.map(({ amount }) => amount)) }
}

const unbilled = async (client: Client, signal: AbortSignal): Promise<Listed<UnbilledUsage>> => {
  const { isCut, items } = await listActive(client, signal)
  const found = await each(items.slice(0, MAX_USAGE), (one) => unbilledOf(client, one, signal))
  return { items: found.filter(({ amount }) => amount !== 0n), isCut: isCut || items.length > MAX_USAGE }
}

/** Asked for by a button only, because it computes the next invoice of each subscription. */
export const useUnbilledUsage = (isEnabled: boolean) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["money", "usage"],
    queryFn: ({ signal }) => unbilled(client, signal),
    enabled: isEnabled,
    staleTime: REFRESH_MILLIS,
  })
}
