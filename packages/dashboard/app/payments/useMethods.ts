import { useQuery } from "@tanstack/react-query"
import { useSession } from "../session/Session.tsx"

const SHOWN = 50

/** The payment methods of a customer, newest first. */
export const useMethods = (customerId: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payment_methods", customerId],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/payment_methods", {
        query: { customer_id: customerId, limit: SHOWN },
        signal,
      }),
  })
}
