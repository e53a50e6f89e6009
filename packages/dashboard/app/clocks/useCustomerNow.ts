import { useQuery } from "@tanstack/react-query"
import type { Customer, TestClock } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { useNow } from "../ui/Clock.ts"

const REFRESH_MILLIS = 5_000

/** A test clock. It may be advanced elsewhere, too. */
export const useTestClock = (id: string | null | undefined) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["clocks", "one", id],
    queryFn: ({ signal }): Promise<TestClock> =>
      client.call("get", "/v1/test_clocks/{id}", { path: { id: id ?? "" }, signal }),
    enabled: id !== null && id !== undefined,
    refetchInterval: REFRESH_MILLIS,
  })
}

/** The present of a customer: that of the test clock, or else the real one. */
export const useCustomerNow = (customer: Customer | undefined): number => {
  const real = useNow()
  const clock = useTestClock(customer?.test_clock_id)
  return clock.data === undefined ? real : Date.parse(clock.data.now)
}
