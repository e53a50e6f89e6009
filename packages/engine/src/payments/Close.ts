/**
 * What follows when the provider does not close a payment that is not wanted any more.
 */
import type { Attention, Collection } from "./Collection.ts"
import { CLOSE_DELAYS } from "./Retry.ts"

/** The part that is still due is attempted when all of it would have been. */
const retryOf = ({ nextAt, retryAt, state }: Collection): Pick<Collection, "retryAt"> =>
  state === "retrying" && retryAt === undefined && nextAt !== null ? { retryAt: nextAt } : {}

/**
 * The collection after closing its payment has failed. It is tried again at `nextAt`; after the last time a person has to
 * look. `detail` is what the provider said.
 */
export const notClosed = (collection: Collection, at: number, detail: string): Collection => {
  const closings = (collection.closings ?? 0) + 1
  const delay = CLOSE_DELAYS[closings - 1]
  if (delay !== undefined) return { ...collection, ...retryOf(collection), closings, nextAt: at + delay }
  const attention: Attention = { code: "not_closed", since: collection.attention?.since ?? at, detail }
  return { ...collection, state: "needs_attention", nextAt: null, attention }
}
