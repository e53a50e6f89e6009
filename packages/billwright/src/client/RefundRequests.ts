/**
 * Refunds over the API.
 */
import type { Refund, Refunds } from "../payments/Refunds.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { path, write } from "./Requests.ts"
import { makeResource } from "./ResourceRequests.ts"

const integers = { amount: true, reversed: true } as const
const toRefund = withIntegers<Refund>(integers)

export const makeRefunds = (connection: Connection): Refunds => ({
  ...makeResource<Omit<Refunds, "refresh" | "resolve">>(connection, {
    path: "/refunds",
    removal: null,
    isMutable: false,
    integers,
  }),
  refresh: async (id, options) =>
    toRefund(await write<Refund>(connection, "POST", path`/refunds/${id}/refresh`, undefined, options)),
  resolve: async (id, input, options) =>
    toRefund(await write<Refund>(connection, "POST", path`/refunds/${id}/resolve`, input, options)),
})
