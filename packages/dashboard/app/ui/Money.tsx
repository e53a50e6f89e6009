import * as Money from "../Money.ts"
import type { WireInteger } from "../Quantity.ts"

/** An amount of the minor unit. An amount of nothing is muted. */
export const Amount = ({ amount, currency }: { readonly amount: WireInteger; readonly currency: string }) => (
  <span className={BigInt(amount) === 0n ? "amount muted" : "amount"}>{Money.format(amount, currency)}</span>
)
