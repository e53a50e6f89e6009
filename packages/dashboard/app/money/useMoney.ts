/**
 * What the page of money shows.
 */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { Client } from "../api/Client.ts"
import { PAGE_LIMIT } from "../api/Queries.ts"
import type { Subscription } from "../api/Types.ts"
import { sum } from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"

/** How many upcoming invoices are asked for at the same time. */
const AT_ONCE = 5
/** The most subscriptions whose usage is listed. All of them are added up. */
export const MAX_LISTED = 100
/** How often the figures are read again, in milliseconds. */
const REFRESH_MILLIS = 60_000

/** The figures, which the server computes from everything that is stored. */
export const useMoney = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["money"],
    queryFn: ({ signal }) => client.call("get", "/v1/money_overview", { signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

export interface UnbilledUsage {
  readonly subscription: Subscription
  readonly amount: bigint
}

/** The usage of all active subscriptions. */
export interface Unbilled {
  /** The subscriptions with the most of it. */
  readonly largest: ReadonlyArray<UnbilledUsage>
  /** How many subscriptions have some. */
  readonly count: number
  readonly byCurrency: ReadonlyMap<string, bigint>
}

/** The usage of a subscription that no invoice bills yet. */
const unbilledOf = async (
  client: Client,
  subscription: Subscription,
  signal: AbortSignal,
): Promise<UnbilledUsage> => {
  const query = { subscription_id: subscription.id }
  const { invoice } = await client.call("get", "/v1/invoices/upcoming", { query, signal })
  const lines = (invoice?.lines ?? []).filter(
    ({ kind, subscription_id: id }) => kind === "usage" && id === subscription.id,
  )
  return { subscription, amount: sum(lines.map(({ amount }) => amount)) }
}

const add = ({ byCurrency, count, largest }: Unbilled, found: ReadonlyArray<UnbilledUsage>): Unbilled => {
  const more = found.filter(({ amount }) => amount !== 0n)
  const sums = new Map(byCurrency)
  for (const { amount, subscription } of more) {
    sums.set(subscription.currency, (sums.get(subscription.currency) ?? 0n) + amount)
  }
  const sorted = [...largest, ...more].toSorted((a, b) => (a.amount < b.amount ? 1 : -1))
  return { largest: sorted.slice(0, MAX_LISTED), count: count + more.length, byCurrency: sums }
}

/** Reads all active subscriptions, page by page, and says how many are done. */
const unbilled = async (
  client: Client,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<Unbilled> => {
  let found: Unbilled = { largest: [], count: 0, byCurrency: new Map() }
  let after: string | undefined
  for (let done = 0; ;) {
    const { data, has_more: hasMore } = await client.call("get", "/v1/subscriptions", {
      query: { phase: "active", limit: PAGE_LIMIT, starting_after: after },
      signal,
    })
    for (let at = 0; at < data.length; at += AT_ONCE) {
      const some = data.slice(at, at + AT_ONCE)
      found = add(found, await Promise.all(some.map((one) => unbilledOf(client, one, signal))))
      done += some.length
      onProgress(done)
    }
    if (!hasMore) return found
    after = data.at(-1)?.id
  }
}

/** Asked for by a button only, because it computes the next invoice of each subscription. */
export const useUnbilledUsage = (isEnabled: boolean) => {
  const { client } = useSession()
  const [done, setDone] = useState(0)
  const query = useQuery({
    queryKey: ["money", "usage"],
    queryFn: ({ signal }) => unbilled(client, signal, setDone),
    enabled: isEnabled,
    staleTime: REFRESH_MILLIS,
  })
  return { done, query }
}
