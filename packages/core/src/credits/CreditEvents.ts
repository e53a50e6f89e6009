/**
 * The events of credits.
 */
import { type CreditAccount, type CreditChange, type CreditEntry, isExhausted } from "@billwright/engine"
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { type AccountKey, CreditGrantId } from "./Credit.ts"

const accountFields = {
  customer_id: CustomerId,
  unit: Schema.String,
  /** What the account had after the operation, in the smallest unit. */
  available: WireInteger,
  held: WireInteger,
  debt: WireInteger,
  /** Rises with each change of the account. A receiver drops an event whose number is not above the last one's. */
  sequence: Schema.Int,
}

/** `amount` is what began or ended. */
const GrantData = Schema.Struct({ ...accountFields, grant_id: CreditGrantId, amount: WireInteger })
const AccountData = Schema.Struct(accountFields)

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
}

type Data = (typeof GrantData)["Encoded"] | (typeof AccountData)["Encoded"]

/** An event to publish. */
export interface CreditEvent {
  readonly type: (typeof creditEvents)[keyof typeof creditEvents]
  readonly data: Data
}

const typeOf = ({ kind }: CreditEntry) => {
  if (kind === "grant") return creditEvents["credit.granted"]
  return kind === "expire" ? creditEvents["credit.expired"] : undefined
}

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
    const amount = entry.available < 0n ? -entry.available : entry.available
    const data = { ...account, sequence: entry.sequence, grant_id: entry.grantId, amount }
    return [{ type, data }]
  })
  if (isExhausted(before, change)) {
    events.push({ type: creditEvents["credit.exhausted"], data: { ...account, sequence } })
  }
  return events
}
