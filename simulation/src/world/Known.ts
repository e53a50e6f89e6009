/**
 * What clients know of their tenant: the ids in their answers.
 */
import { Tenant } from "@billwright/core"

export interface Known {
  readonly tenant: Tenant.Tenant
  readonly customers: Array<string>
  readonly endpoints: Array<string>
  readonly records: Array<string>
  readonly meters: Array<string>
  readonly events: Array<string>
}

const nothingOf = (accountId: string, mode: Tenant.Mode): Known => ({
  tenant: { accountId: Tenant.AccountId.make(accountId), mode },
  customers: [],
  endpoints: [],
  records: [],
  meters: [],
  events: [],
})

/** Two accounts, one of them in both modes. */
export const newcomers = (): ReadonlyArray<Known> => [
  nothingOf("acme", "live"),
  nothingOf("acme", "test"),
  nothingOf("globex", "live"),
]
