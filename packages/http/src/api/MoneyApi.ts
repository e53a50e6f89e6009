/**
 * The REST definition of the overview of money.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { readErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** Most currencies that money can have: there are fewer codes. */
const MAX_CURRENCIES = 1_000

const figure = (description: string) =>
  Schema.Struct({
    count: Wire.Count.annotate({ description: "How many there are." }),
    amount: Wire.exactInteger({
      minimum: -Number.MAX_VALUE,
      maximum: Number.MAX_VALUE,
      problem: "must be an integer",
      description: `What they come to, in the minor unit of the currency. ${Wire.LARGE_INTEGERS}`,
    }),
  }).annotate({ description })

const CurrencyMoney = Schema.Struct({
  currency: Wire.text(3).annotate({ description: "The ISO 4217 code of the currency." }),
  recurring: figure(
    "What active subscriptions cost a month, without usage and before discounts and taxes. It is rounded once. A year counts as a twelfth a month, and a day as a 365th of a year.",
  ),
  invoiced: figure("The totals of invoices that were issued after `since` and not voided."),
  collected: figure("The payments that succeeded after `since`. What was refunded later is not taken off."),
  outstanding: figure("What is due of open invoices: the sum of the four figures by age."),
  not_due: figure("What is due of open invoices that are not late."),
  late_thirty: figure("Of those late by up to 30 days."),
  late_sixty: figure("Of those late by more than 30 and up to 60 days."),
  late_more: figure("Of those late by more than 60 days."),
  to_retry: figure("Of open invoices whose payment was declined, and is tried again by itself."),
})

const MoneyBody = Schema.Struct({
  object: Schema.Literal("money_overview"),
  at: Wire.instant("The instant of the figures."),
  since: Wire.instant("30 days before. What was invoiced and collected is after it."),
  currencies: Schema.Array(CurrencyMoney).check(Schema.isMaxLength(MAX_CURRENCIES)).annotate({
    description: "The figures of each currency that has any, by their codes. Nothing is converted.",
  }),
  is_complete: Schema.Boolean.annotate({
    description:
      "`false` if active subscriptions have more than 10,000 different terms: `recurring` then leaves some of them out.",
  }),
  livemode: Wire.Livemode,
}).annotate({ identifier: "MoneyOverview", description: "What the money of an account and mode comes to." })

export const MoneyApi = HttpApiGroup.make("money")
  .add(
    HttpApiEndpoint.get("getMoneyOverview", "/money_overview", {
      success: MoneyBody,
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the overview of money",
          description:
            "Returns what comes each month, what was invoiced and collected in 30 days, and what is outstanding, by currency. Each figure counts everything that is stored. The lists of invoices and payments show what makes it, with `figure` and `currency`.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Money",
      description: "Figures of all invoices, payments and subscriptions.",
    }),
  )

export type MoneyBody = typeof MoneyBody.Encoded
