/**
 * Entitlements over the API.
 */
import type { Entitlement, EntitlementConsumption, Entitlements } from "../entitlements/Entitlements.ts"
import type { Connection } from "./Connection.ts"
import { readAll, write } from "./Requests.ts"
import { toQuery } from "./WireNames.ts"

const toUnits = (sent: bigint | null): bigint | null => (sent === null ? null : BigInt(sent))

const withUnits = <A extends Omit<Entitlement, "rolledOver">>(sent: A): A => ({
  ...sent,
  limit: toUnits(sent.limit),
  used: toUnits(sent.used),
  balance: toUnits(sent.balance),
  overage: toUnits(sent.overage),
})

const toEntitlement = (sent: Entitlement): Entitlement => ({
  ...withUnits(sent),
  rolledOver: toUnits(sent.rolledOver),
})

export const makeEntitlements = (connection: Connection): Entitlements => ({
  // The server always reads, so its answer is never too old.
  check: async (asked, options) => {
    const { maxStalenessMillis: _, ...input } = asked
    return toEntitlement(await write<Entitlement>(connection, "POST", "/entitlements/check", input, options))
  },
  list: async (customer, options) => {
    const path = `/entitlements${toQuery(customer)}`
    const request = { method: "GET", path, signal: options?.signal } as const
    return (await readAll<Entitlement>(connection, request)).map(toEntitlement)
  },
  consume: async (input, options) =>
    withUnits(
      await write<EntitlementConsumption>(connection, "POST", "/entitlements/consume", input, options),
    ),
})
