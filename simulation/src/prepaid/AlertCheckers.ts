/**
 * The invariant of credit alerts: each fires when what is available falls below its level, and never otherwise.
 */
import type { CreditAlert } from "@billwright/core"
import { accountName } from "../credits/CreditBooks.ts"
import type { AccountChange, PrepaidBooks } from "./PrepaidBooks.ts"

interface Payload {
  readonly type: string
  readonly data: { readonly credit_alert_id?: string; readonly sequence: number }
}

/** The numbers of the entries with which an instant ends that begins at a level or above it, and ends below. */
const fallsOf = (changes: ReadonlyArray<AccountChange>, level: bigint): ReadonlyArray<number> => {
  let available = 0n
  return changes.flatMap(({ entries }) => {
    const instants = entries.flatMap((entry, index) => (entries[index - 1]?.at === entry.at ? [] : [index]))
    return instants.flatMap((from, number) => {
      const part = entries.slice(from, instants[number + 1])
      const before = available
      available += part.reduce((sum, entry) => sum + entry.available, 0n)
      return before >= level && available < level ? [part.at(-1)!.sequence] : []
    })
  })
}

const firedOf = ({ events }: PrepaidBooks, { id }: CreditAlert.CreditAlert): ReadonlyArray<number> =>
  events.flatMap(({ event }) => {
    const { data, type } = JSON.parse(event.payload) as Payload
    return type === "credit.low" && data.credit_alert_id === id ? [data.sequence] : []
  })

/** Each alert of a run is created before there are credits, so it has fired once before all else. */
export const alertsFireOnce = (books: PrepaidBooks): ReadonlyArray<string> => {
  const changes = books.transactions.flat().flatMap((change) => (change.type === "account" ? [change] : []))
  return books.alerts.flatMap(({ alert, tenant }) => {
    const name = accountName(tenant, alert.customerId, alert.unit)
    const falls = fallsOf(
      changes.filter((change) => change.name === name),
      alert.level,
    )
    const [expected, given] = [[0, ...falls].join(), firedOf(books, alert).join()]
    return given === expected ? [] : [`${alert.id} fired at ${given}, and not at ${expected}`]
  })
}
