import * as Queries from "../api/Queries.ts"
import type { Mode } from "./Key.ts"
import { useSession } from "./Session.tsx"

/** The shown mode: that of the key or, if the host authenticates the operator, that of the API's answers. */
export const useMode = (): Mode | undefined => {
  const { mode } = useSession()
  const { data } = Queries.useStatistics({ isEnabled: mode === undefined })
  return mode ?? (data === undefined ? undefined : data.livemode ? "live" : "test")
}
