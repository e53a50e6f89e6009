/**
 * The overview of money over the API.
 */
import type { CurrencyMoney, MoneyFigure, MoneyFigures, MoneyOverview } from "../invoices/Money.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { read } from "./Requests.ts"

const toFigure = withIntegers<MoneyFigure>({ amount: true })

const toCurrency = (money: CurrencyMoney): CurrencyMoney => ({
  currency: money.currency,
  recurring: toFigure(money.recurring),
  invoiced: toFigure(money.invoiced),
  collected: toFigure(money.collected),
  outstanding: toFigure(money.outstanding),
  notDue: toFigure(money.notDue),
  lateThirty: toFigure(money.lateThirty),
  lateSixty: toFigure(money.lateSixty),
  lateMore: toFigure(money.lateMore),
  toRetry: toFigure(money.toRetry),
})

export const makeMoney = (connection: Connection): MoneyFigures => ({
  overview: async (options) => {
    const { currencies, ...rest } = await read<MoneyOverview>(
      connection,
      "/money_overview",
      undefined,
      options,
    )
    return { ...rest, currencies: currencies.map(toCurrency) }
  },
})
