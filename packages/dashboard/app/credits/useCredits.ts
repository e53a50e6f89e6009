import { useQuery } from "@tanstack/react-query"
import type { Client } from "../api/Client.ts"
import { listAll, type Listed } from "../api/listAll.ts"
import type { CreditEntry, CreditGrant } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"

const REFRESH_MILLIS = 5_000
/** The most pages of grants that are read to know the units of a customer. */
const MAX_GRANT_PAGES = 5
/** The most pages of entries that the chart of the balance goes back. */
const MAX_ENTRY_PAGES = 5

/** The newest grants of a customer, up to the limit. */
const listGrants = (client: Client, customerId: string, signal: AbortSignal): Promise<Listed<CreditGrant>> =>
  listAll<CreditGrant>(MAX_GRANT_PAGES, (page) =>
    client.call("get", "/v1/credit_grants", { query: { customer_id: customerId, ...page }, signal }),
  )

export const useGrants = (customerId: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["credits", "grants", customerId],
    queryFn: ({ signal }) => listGrants(client, customerId, signal),
    refetchInterval: REFRESH_MILLIS,
  })
}

/** The units that a customer was granted credits of, in the order of the alphabet. */
export const unitsOf = (grants: ReadonlyArray<CreditGrant>): ReadonlyArray<string> =>
  [...new Set(grants.map(({ unit }) => unit))].toSorted()

/** What to say when not all grants were read. */
export const unitsNote = (grants: ReadonlyArray<CreditGrant>): string =>
  `These are the units of the newest ${grants.length.toLocaleString("en-GB")} grants.`

export const useBalance = (customerId: string, unit: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["credits", "balance", customerId, unit],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/credit_balance", { query: { customer_id: customerId, unit }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

/** The newest entries, newest first, up to the limit. */
const listEntries = (
  client: Client,
  customerId: string,
  unit: string,
  signal: AbortSignal,
): Promise<Listed<CreditEntry>> =>
  listAll<CreditEntry>(MAX_ENTRY_PAGES, (page) =>
    client.call("get", "/v1/credit_entries", { query: { customer_id: customerId, unit, ...page }, signal }),
  )

export const useRecentEntries = (customerId: string, unit: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["credits", "recent", customerId, unit],
    queryFn: ({ signal }) => listEntries(client, customerId, unit, signal),
    refetchInterval: REFRESH_MILLIS,
  })
}
