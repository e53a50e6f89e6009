/**
 * Credits and holds over the API.
 */
import type {
  CreditAmounts,
  CreditBalance,
  CreditConsumption,
  CreditEntry,
  CreditGrant,
  CreditGrantStep,
  CreditRollover,
  Credits,
} from "../credits/Credits.ts"
import { type CommittedHold, type Hold, type Holds, reserved } from "../credits/Holds.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { list, path, read, write } from "./Requests.ts"
import { toTokenUsage } from "./TokenUsageRequests.ts"

const AMOUNTS = { available: true, held: true, debt: true } as const

const toGrantAmounts = withIntegers<CreditGrant>({ amount: true, available: true, held: true })
const toRollover = withIntegers<CreditRollover>({ maximum: true })
const toStep = withIntegers<CreditGrantStep>({ amount: true })
const toGrant = ({ rollover, steps, ...rest }: CreditGrant): CreditGrant =>
  toGrantAmounts({
    ...rest,
    rollover: rollover === null ? null : toRollover(rollover),
    steps: steps.map(toStep),
  })
const toEntry = withIntegers<CreditEntry>({ ...AMOUNTS, scoped: true })
const toBalance = withIntegers<CreditBalance>({ ...AMOUNTS, scoped: true })
const toAmounts = withIntegers<CreditAmounts>(AMOUNTS)
const toConsumption = ({ amount, balance, ...rest }: CreditConsumption): CreditConsumption => ({
  ...rest,
  amount: BigInt(amount),
  balance: toAmounts(balance),
})
const toHold = withIntegers<Hold>({ amount: true, committed: true })
const toCommitted = ({ tokenUsage, ...hold }: CommittedHold): CommittedHold => ({
  ...toHold(hold),
  tokenUsage: tokenUsage === null ? null : toTokenUsage(tokenUsage),
})

export const makeCredits = (connection: Connection): Credits => ({
  grant: async (input, options) =>
    toGrant(await write<CreditGrant>(connection, "POST", "/credit_grants", input, options)),
  consume: async (input, options) =>
    toConsumption(await write(connection, "POST", "/credit_consumptions", input, options)),
  balance: async (asked, options) =>
    toBalance(await read<CreditBalance>(connection, "/credit_balance", asked, options)),
  getGrant: async (id, options) =>
    toGrant(await read<CreditGrant>(connection, path`/credit_grants/${id}`, undefined, options)),
  listGrants: (query, options) => list(connection, "/credit_grants", query, options, toGrant),
  voidGrant: async (id, options) =>
    toGrant(await write(connection, "POST", path`/credit_grants/${id}/void`, undefined, options)),
  entries: (query, options) => list(connection, "/credit_entries", query, options, toEntry),
})

export const makeHolds = (connection: Connection): Holds => {
  const settling: Pick<Holds, "commit" | "release"> = {
    commit: async (id, input, options) =>
      toCommitted(await write(connection, "POST", path`/holds/${id}/commit`, input ?? {}, options)),
    release: async (id, options) =>
      toHold(await write(connection, "POST", path`/holds/${id}/release`, undefined, options)),
  }
  return {
    reserve: async (input, options) =>
      reserved(toHold(await write(connection, "POST", "/holds", input, options)), settling),
    get: async (id, options) => toHold(await read(connection, path`/holds/${id}`, undefined, options)),
    list: (query, options) => list(connection, "/holds", query, options, toHold),
    extend: async (id, input, options) =>
      toHold(await write(connection, "POST", path`/holds/${id}/extend`, input ?? {}, options)),
    ...settling,
  }
}
