import type { Event } from "../api/Types.ts"

/** What receivers are sent, in its order. */
export const payloadOf = ({ data, id, livemode, timestamp, type }: Event) => ({
  id,
  type,
  timestamp,
  livemode,
  data,
})
