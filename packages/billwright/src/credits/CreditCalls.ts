/**
 * Implements `billing.credits` and `billing.holds`.
 */
import { Credit, Credits as CreditsService, Hold, Holds as HoldsService } from "@billwright/core"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toAmount, toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Credits } from "./Credits.ts"
import { type Holds, reserved } from "./Holds.ts"

const toGrantId = Ids.of(Credit.GRANT_ID_PREFIX)
const toHoldId = Ids.of(Hold.HOLD_ID_PREFIX)

/** Input with an amount, as the services take it. */
const withAmount = <A>(
  input: object & { readonly amount?: unknown },
  ...instants: ReadonlyArray<string>
): A => toInput({ ...input, amount: toAmount(input.amount) }, ...instants)

export const makeCredits = (calls: Calls): Credits => {
  const credits = calls.service(CreditsService)
  return {
    grant: (input, options) =>
      calls.run(() => credits.grant(withAmount(input, "effectiveAt", "expiresAt")), options),
    consume: (input, options) => calls.run(() => credits.consume(withAmount(input)), options),
    balance: (asked, options) => calls.run(() => credits.balance(toInput(asked)), options),
    getGrant: (id, options) => calls.run(() => credits.getGrant(toGrantId(id)), options),
    listGrants: (query, options) =>
      makeListing(query, (page) => calls.run(() => credits.listGrants(toOptionalInput(page)), options)),
    voidGrant: (id, options) => calls.run(() => credits.voidGrant(toGrantId(id)), options),
    entries: (query, options) =>
      makeListing(query, (page) => calls.run(() => credits.listEntries(toOptionalInput(page)), options)),
  }
}

export const makeHolds = (calls: Calls): Holds => {
  const holds = calls.service(HoldsService)
  const settling: Pick<Holds, "commit" | "release"> = {
    commit: (id, input, options) =>
      calls.run(() => holds.commit(toHoldId(id), withAmount(input ?? {})), options),
    release: (id, options) => calls.run(() => holds.release(toHoldId(id)), options),
  }
  return {
    reserve: async (input, options) =>
      reserved(await calls.run(() => holds.reserve(withAmount(input)), options), settling),
    get: (id, options) => calls.run(() => holds.get(toHoldId(id)), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => holds.list(toOptionalInput(page)), options)),
    extend: (id, input, options) =>
      calls.run(() => holds.extend(toHoldId(id), toOptionalInput(input)), options),
    ...settling,
  }
}
