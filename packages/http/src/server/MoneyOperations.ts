/**
 * The operation of the overview of money (see `Operations`).
 */
import { ExactJson, type MoneyFigure, MoneyOverview } from "@billwright/core"
import { Effect } from "effect"
import type { MoneyBody } from "../api/MoneyApi.ts"
import { ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const figure = ({ amount, count }: MoneyFigure) => ({ count, amount: ExactJson.integer(amount) })

export const make: Effect.Effect<OperationsOf<"money">, never, MoneyOverview> = Effect.gen(function* () {
  const money = yield* MoneyOverview
  return {
    getMoneyOverview: (_, { mode }) =>
      Effect.map(money.overview, ({ at, currencies, isComplete, since }) => {
        const body: MoneyBody = {
          object: "money_overview",
          at: Render.instant(at),
          since: Render.instant(since),
          currencies: currencies.map((one) => ({
            currency: one.currency,
            recurring: figure(one.recurring),
            invoiced: figure(one.invoiced),
            collected: figure(one.collected),
            outstanding: figure(one.outstanding),
            not_due: figure(one.notDue),
            late_thirty: figure(one.lateThirty),
            late_sixty: figure(one.lateSixty),
            late_more: figure(one.lateMore),
            to_retry: figure(one.toRetry),
          })),
          is_complete: isComplete,
          livemode: mode === "live",
        }
        return ok(body)
      }),
  }
})
