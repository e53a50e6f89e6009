import type { Event } from "../api/Types.ts"

/** The payload that receivers get, with its order of fields. */
export const payloadOf = ({ data, id, livemode, timestamp, type }: Event) => ({
  id,
  type,
  timestamp,
  livemode,
  data,
})
