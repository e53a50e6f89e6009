/**
 * Implements `billing.money`.
 */
import { MoneyOverview } from "@billwright/core"
import type { Calls } from "../runtime/Calls.ts"
import type { MoneyFigures } from "./Money.ts"

export const makeMoney = (calls: Calls): MoneyFigures => {
  const money = calls.service(MoneyOverview)
  return { overview: (options) => calls.run(() => money.overview, options) }
}
