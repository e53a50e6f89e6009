import { useQueryClient } from "@tanstack/react-query"

/** The areas of the cache that an action on subscriptions, invoices, payments or credits may change. */
const AREAS = [
  "subscriptions",
  "invoices",
  "payments",
  "payment_methods",
  "credits",
  "entitlements",
  "clocks",
  "plans",
  "money",
  "events",
]

/** Loads everything again that such an action may have changed. */
export const useRefreshBilling = () => {
  const queries = useQueryClient()
  return async (): Promise<void> => {
    await Promise.all(AREAS.map((area) => queries.invalidateQueries({ queryKey: [area] })))
  }
}
