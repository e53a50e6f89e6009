/**
 * Calls of plans and pushes of rate cards over the API.
 */
import type { CallOptions } from "../Call.ts"
import type { PlanChange, PlanPreview, Plans } from "../catalog/Plans.ts"
import type { RateCards } from "../catalog/RateCards.ts"
import type { Connection } from "./Connection.ts"
import { list, path, read, readAll, write } from "./Requests.ts"

const toPreview = ({ lines, total, ...preview }: PlanPreview): PlanPreview => ({
  ...preview,
  lines: lines.map((line) => ({ ...line, amount: BigInt(line.amount) })),
  total: BigInt(total),
})

/** Sends plans or rate cards, given as one or as a list. */
const send =
  (connection: Connection, field: "plans" | "rate_cards") =>
  (to: string) =>
  (given: unknown, options?: CallOptions): Promise<ReadonlyArray<PlanChange>> =>
    readAll<PlanChange>(connection, {
      method: "POST",
      path: to,
      body: { [field]: Array.isArray(given) ? given : [given] },
      signal: options?.signal,
    })

/** The calls that only rate cards have. */
export const makeCardCalls = (connection: Connection): Pick<RateCards, "push" | "diff"> => {
  const sendCards = send(connection, "rate_cards")
  return { push: sendCards("/catalog/push"), diff: sendCards("/catalog/diff") }
}

export const makePlans = (connection: Connection): Omit<Plans, "compare"> => {
  const sendPlans = send(connection, "plans")
  return {
    push: sendPlans("/catalog/push"),
    diff: sendPlans("/catalog/diff"),
    get: (key, options) => read(connection, path`/plans/${key}`, undefined, options),
    list: (query, options) => list(connection, "/plans", query, options),
    getVersion: (key, version, options) =>
      read(connection, path`/plans/${key}/versions/${String(version)}`, undefined, options),
    listVersions: (key, query, options) => list(connection, path`/plans/${key}/versions`, query, options),
    preview: async (input, options) =>
      toPreview(await write<PlanPreview>(connection, "POST", "/catalog/preview", input, options)),
  }
}
