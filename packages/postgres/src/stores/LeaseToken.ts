/**
 * The token of a lease, as core gets it: a UUID, and the place of the row in its table (`ctid`), by which the result finds
 * the row without an index. Only the UUID decides whether the lease still holds.
 */

/** `place` is a `tid` as Postgres writes it. */
export const make = (uuid: string, place: string): string => `${uuid} ${place}`

export const uuidOf = (token: string): string => token.split(" ", 1)[0] ?? ""

/** The place, or `null` for a token without one. */
export const placeOf = (token: string): string | null => token.split(" ")[1] ?? null
