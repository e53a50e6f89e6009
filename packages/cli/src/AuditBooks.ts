/**
 * `billwright audit books`: checks that invoices are what their lines, credit notes, payments and proofs say.
 */
import { Billing, BookAudit, type BookDiscrepancy, CurrentTenant, Invoice } from "@billwright/core"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { AuditFailed } from "./AuditFailed.ts"
import * as Progress from "./Progress.ts"
import * as Store from "./Store.ts"
import { account, json, mode } from "./TenantFlags.ts"

/** The audit ends when it has found so many differences. */
const MAX_DISCREPANCIES = 1_000

const after = Flag.String("after").pipe(
  Flag.withDescription(
    "Go on after this invoice: the last one that an audit says it has read. Default: begin with the newest.",
  ),
  Flag.withSchema(Invoice.InvoiceId),
  Flag.optional,
)

interface Audited {
  readonly invoices: number
  readonly proofs: number
  readonly discrepancies: ReadonlyArray<BookDiscrepancy>
  readonly last: Invoice.InvoiceId | null
  readonly hasMore: boolean
}

const countOf = (count: number): string => count.toLocaleString("en-US")

const readSoFar = ({ discrepancies, invoices, last, proofs }: Audited): string =>
  `read ${countOf(invoices)} invoices, ${countOf(proofs)} of them with a proof, the last one is ${last ?? "none"}; ` +
  `${countOf(discrepancies.length)} differences`

const auditAll = Effect.fnUntraced(function* (from: Invoice.InvoiceId | null) {
  const { page } = yield* BookAudit
  const progress = Progress.make(readSoFar)
  let all: Audited = { invoices: 0, proofs: 0, discrepancies: [], last: from, hasMore: true }
  while (all.hasMore && all.discrepancies.length < MAX_DISCREPANCIES) {
    const next = yield* page(all.last === null ? {} : { startingAfter: all.last })
    all = {
      invoices: all.invoices + next.invoices,
      proofs: all.proofs + next.proofs,
      discrepancies: [...all.discrepancies, ...next.discrepancies],
      last: next.last ?? all.last,
      hasMore: next.hasMore,
    }
    yield* progress(all)
  }
  return all
})

const describe = ({ invoiceId, number, path, problem }: BookDiscrepancy): string =>
  `${number ?? "-"} (${invoiceId}): ${path} ${problem}`

const toJson = ({ discrepancies, hasMore, ...read }: Audited): string =>
  JSON.stringify(
    {
      ...read,
      discrepancies: discrepancies.map(({ invoiceId, ...found }) => ({ invoice_id: invoiceId, ...found })),
      has_more: hasMore,
    },
    undefined,
    2,
  )

export const auditBooks = Command.make(
  "books",
  { ...Store.databaseFlags, account, mode, after, json },
  Effect.fn(function* (options) {
    const services = Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))
    const found = yield* auditAll(Option.getOrNull(options.after)).pipe(
      Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode }),
      Effect.provide(services),
    )
    const text = [...found.discrepancies.map(describe), `${readSoFar(found)}.`].join("\n")
    yield* Console.log(options.json ? toJson(found) : text)
    const { length } = found.discrepancies
    if (length === 0) return
    const more = found.hasMore ? `. There may be more: go on with --after ${found.last ?? ""}` : ""
    yield* new AuditFailed({ message: `${length} differences of invoices${more}` })
  }),
).pipe(Command.withDescription("Compare invoices with their lines, credit notes, payments and proofs"))
