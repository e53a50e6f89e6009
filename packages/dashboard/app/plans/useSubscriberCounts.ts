/**
 * How many subscriptions are on each version of a plan.
 */
import { useQuery } from "@tanstack/react-query"
import type { Client } from "../api/Client.ts"
import { listAll } from "../api/listAll.ts"
import type { Subscription } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"

/** The API lists subscriptions, and doesn't count them. So at most this many pages of them are counted. */
const MAX_PAGES = 20
const COUNTS_MILLIS = 60_000

export interface SubscriberCounts {
  /** The number of subscriptions that have not ended. */
  readonly of: (key: string, version?: number) => number
  /** Whether there are more subscriptions, which were not counted. */
  readonly isCut: boolean
  /** How many were looked at. */
  readonly seen: number
}

const keyOf = (key: string, version: number): string => `${key}@${version}`

const count = async (client: Client, signal: AbortSignal) => {
  const { isCut, items } = await listAll<Subscription>(MAX_PAGES, (query) =>
    client.call("get", "/v1/subscriptions", { query, signal }),
  )
  const counts: Record<string, number> = {}
  for (const { phase, plan } of items) {
    if (phase === "ended") continue
    for (const name of [plan.key, keyOf(plan.key, plan.version)]) counts[name] = (counts[name] ?? 0) + 1
  }
  return { counts, isCut, seen: items.length }
}

export const useSubscriberCounts = (): SubscriberCounts | undefined => {
  const { client } = useSession()
  const { data } = useQuery({
    queryKey: ["subscriptions", "counts"],
    queryFn: ({ signal }) => count(client, signal),
    staleTime: COUNTS_MILLIS,
  })
  if (data === undefined) return undefined
  const { counts, isCut, seen } = data
  return {
    of: (key, version) => counts[version === undefined ? key : keyOf(key, version)] ?? 0,
    isCut,
    seen,
  }
}
