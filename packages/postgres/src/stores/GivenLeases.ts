/**
 * The leases that were given to dispatchers of this process, or back, so that none is given twice. It is synchronous.
 */
import * as LeaseToken from "./LeaseToken.ts"

/** Most leases that are remembered. */
export const MAX_GIVEN = 50_000

export class GivenLeases {
  /** Their UUIDs, the oldest first. */
  readonly #given = new Set<string>()

  /** Those that were not given before. From now on they are. A notification comes twice when somebody else has sent it again. */
  neverGiven<A extends { readonly token: string }>(leased: ReadonlyArray<A>): ReadonlyArray<A> {
    const found = leased.filter(({ token }) => {
      const uuid = LeaseToken.uuidOf(token)
      if (this.#given.has(uuid)) return false
      this.#given.add(uuid)
      return true
    })
    this.#forgetOldest()
    return found
  }

  #forgetOldest(): void {
    for (const uuid of this.#given) {
      if (this.#given.size <= MAX_GIVEN) break
      this.#given.delete(uuid)
    }
  }
}
