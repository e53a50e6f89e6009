import * as Queries from "../api/Queries.ts"
import type { Mode } from "./Key.ts"
import { useSession } from "./Session.tsx"

/** The mode of what is shown: the key's, or, where the host authenticates, what the API says. */
export const useMode = (): Mode | undefined => {
  const { mode } = useSession()
  const { data } = Queries.useStatistics({ isEnabled: mode === undefined })
  return mode ?? (data === undefined ? undefined : data.livemode ? "live" : "test")
}
