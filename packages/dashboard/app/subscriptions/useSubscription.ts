import { useQuery } from "@tanstack/react-query"
import { useSession } from "../session/Session.tsx"

const REFRESH_MILLIS = 5_000
/** The newest invoices of a subscription that its page shows. */
const SHOWN_INVOICES = 24

export const useSubscription = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["subscriptions", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/subscriptions/{id}", { path: { id }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

/** The invoice that comes next, with the usage that is recorded by now. */
export const useUpcoming = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["subscriptions", "upcoming", id],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/invoices/upcoming", { query: { subscription_id: id }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

export const useSubscriptionInvoices = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["invoices", "of-subscription", id],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/invoices", { query: { subscription_id: id, limit: SHOWN_INVOICES }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}
