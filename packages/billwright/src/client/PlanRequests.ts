import type { CallOptions } from "../Call.ts"
/**
 * Calls of plans over the API.
 */
import type { PlanChange, PlanPreview, Plans } from "../catalog/Plans.ts"
import type { Connection } from "./Connection.ts"
import { list, path, read, readAll, write } from "./Requests.ts"

const toPreview = ({ lines, total, ...preview }: PlanPreview): PlanPreview => ({
  ...preview,
  lines: lines.map((line) => ({ ...line, amount: BigInt(line.amount) })),
  total: BigInt(total),
})

export const makePlans = (connection: Connection): Plans => {
  const send =
    (to: string) =>
    (plans: unknown, options?: CallOptions): Promise<ReadonlyArray<PlanChange>> =>
      readAll<PlanChange>(connection, {
        method: "POST",
        path: to,
        body: { plans: Array.isArray(plans) ? plans : [plans] },
        signal: options?.signal,
      })
  return {
    push: send("/catalog/push"),
    diff: send("/catalog/diff"),
    get: (key, options) => read(connection, path`/plans/${key}`, undefined, options),
    list: (query, options) => list(connection, "/plans", query, options),
    getVersion: (key, version, options) =>
      read(connection, path`/plans/${key}/versions/${String(version)}`, undefined, options),
    listVersions: (key, query, options) => list(connection, path`/plans/${key}/versions`, query, options),
    preview: async (input, options) =>
      toPreview(await write<PlanPreview>(connection, "POST", "/catalog/preview", input, options)),
  }
}
