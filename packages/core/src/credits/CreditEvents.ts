/**
 * The events of credits.
 */
import {
  availableBy,
  type CreditAccount,
  type CreditBalance,
  type CreditChange,
  type CreditEntry,
  isExhausted,
} from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { type AccountKey, CreditGrantId } from "./Credit.ts"
import { type CreditAlert, CreditAlertId } from "./CreditAlert.ts"

const accountFields = {
  customer_id: CustomerId,
  unit: Schema.String,
  /** What the account had after the operation, in the smallest unit. `available` is what can be used for anything. */
  available: WireInteger,
  held: WireInteger,
  debt: WireInteger,
  /** Rises with each change of the account, and events of one change may share it. A receiver drops an older one. */
  sequence: Schema.Int,
}

/** `amount` is what began or ended, or by how much a plan grants more: below 0, it is less. */
const GrantData = Schema.Struct({ ...accountFields, grant_id: CreditGrantId, amount: WireInteger })
const AccountData = Schema.Struct(accountFields)
/** `level` is that of the alert. */
const LowData = Schema.Struct({ ...accountFields, credit_alert_id: CreditAlertId, level: WireInteger })

const example = {
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  unit: "token",
  available: 1000,
  held: 0,
  debt: 0,
  sequence: 1,
}
const grantId = "cgr_01kahd3kc8e0fsr8zknzqgf2h2"

/** The types of events of credits. */
export const creditEvents = {
  "credit.granted": EventType.make({
    name: "credit.granted",
    description: "A grant of credits began.",
    data: GrantData,
    example: { ...example, grant_id: grantId, amount: 1000 },
  }),
  "credit.adjusted": EventType.make({
    name: "credit.adjusted",
    description: "A subscription was changed, and its plan grants more credits for the period, or less.",
    data: GrantData,
    example: { ...example, available: 400, sequence: 5, grant_id: grantId, amount: 400 },
  }),
  "credit.expired": EventType.make({
    name: "credit.expired",
    description: "What was left of a grant of credits expired.",
    data: GrantData,
    example: { ...example, available: 0, sequence: 7, grant_id: grantId, amount: 250 },
  }),
  "credit.exhausted": EventType.make({
    name: "credit.exhausted",
    description: "A customer used the last available credits of a unit.",
    data: AccountData,
    example: { ...example, available: 0, sequence: 9 },
  }),
  "credit.low": EventType.make({
    name: "credit.low",
    description: "What a customer has of a unit fell below the level of a credit alert.",
    data: LowData,
    example: {
      ...example,
      available: 80,
      sequence: 8,
      credit_alert_id: "cal_01kahd3kc8e0fsr8zknzqgf2h3",
      level: 100,
    },
  }),
}

type Data = (typeof GrantData)["Encoded"] | (typeof AccountData)["Encoded"] | (typeof LowData)["Encoded"]

/** An event to publish. */
export interface CreditEvent {
  readonly type: (typeof creditEvents)[keyof typeof creditEvents]
  readonly data: Data
}

const typeOf = ({ kind }: CreditEntry) => {
  switch (kind) {
    case "grant":
      return creditEvents["credit.granted"]
    case "adjust":
      return creditEvents["credit.adjusted"]
    case "expire":
      return creditEvents["credit.expired"]
    default:
      return undefined
  }
}

/** The event of an alert, when what is available has fallen below its level. */
export const lowOf = (
  { id, customerId, level, unit }: CreditAlert,
  { available, debt, held }: CreditBalance,
  sequence: number,
): CreditEvent => ({
  type: creditEvents["credit.low"],
  data: { customer_id: customerId, unit, available, held, debt, sequence, credit_alert_id: id, level },
})

/** The events of a change, in the order of their sequence. */
export const eventsOf = (
  { customerId, unit }: AccountKey,
  before: CreditAccount,
  change: CreditChange,
): ReadonlyArray<CreditEvent> => {
  const { available, debt, held, sequence } = change.account
  const account = { customer_id: customerId, unit, available, held, debt }
  const events: Array<CreditEvent> = change.entries.flatMap((entry) => {
    const type = typeOf(entry)
    if (type === undefined || entry.grantId === null) return []
    // Credits that had expired are burnt: that is no event of their grant.
    if (entry.kind === "expire" && availableBy(entry) > 0n) return []
    const by = availableBy(entry) - entry.debt
    const amount = entry.kind === "expire" ? -by : by
    const data = { ...account, sequence: entry.sequence, grant_id: entry.grantId, amount }
    return [{ type, data }]
  })
  if (isExhausted(before, change)) {
    events.push({ type: creditEvents["credit.exhausted"], data: { ...account, sequence } })
  }
  return events
}
