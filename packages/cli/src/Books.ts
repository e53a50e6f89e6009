/**
 * `billwright books`: the journal for finance.
 */
import { Billing, Books, CurrentTenant, type ReadJournal, UsagePeriod } from "@billwright/core"
import { JOURNAL_FORMATS, journalHead, journalText } from "@billwright/engine"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Store from "./Store.ts"
import { account, mode } from "./TenantFlags.ts"

const format = Flag.Literals("format", JOURNAL_FORMATS).pipe(
  Flag.withDescription("csv: a row for each posting. hledger: a journal of hledger. json: one entry a line."),
  Flag.withDefault("csv" as const),
)

const day = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.withSchema(UsagePeriod.CalendarDate),
    Flag.optional,
  )

const from = day("from", "The first day in UTC, such as 2026-01-01. Default: the first that there is.")
const until = day("until", "The last day in UTC: it counts. Default: today.")

const given = (name: "startDate" | "endDate", value: Option.Option<string>): Partial<ReadJournal> =>
  Option.match(value, { onNone: () => ({}), onSome: (date) => ({ [name]: date }) })

const exportAll = Command.make(
  "export",
  { ...Store.databaseFlags, account, mode, format, from, until },
  Effect.fn(function* (options) {
    const print = (text: string) => (text === "" ? Effect.void : Console.log(text.slice(0, -1)))
    const days = { ...given("startDate", options.from), ...given("endDate", options.until) }
    const all = Effect.gen(function* () {
      const { journal } = yield* Books
      yield* print(journalHead(options.format))
      let query: ReadJournal = days
      for (;;) {
        const { entries, hasMore, last } = yield* journal(query)
        yield* print(entries.map((entry) => journalText(entry, options.format)).join(""))
        if (!hasMore || last === null) return
        query = { ...days, startingAfter: last }
      }
    })
    yield* all.pipe(
      Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode }),
      Effect.provide(Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))),
    )
  }),
).pipe(
  Command.withDescription("Print the journal: double entry of invoices, payments and credits"),
  Command.withExamples([
    {
      command: "billwright books export --format hledger --until 2026-12-31 > books.journal",
      description: "Keep the journal in a file",
    },
  ]),
)

export const books = Command.make("books").pipe(
  Command.withDescription("Read the books for finance"),
  Command.withSubcommands([exportAll]),
)
