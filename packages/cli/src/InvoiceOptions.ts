/**
 * How the invoices of a server are numbered, taxed and shown: the options of a file, and PDF where its package is installed.
 */
import { readFile } from "node:fs/promises"
import { type Billing, type InvoicesOptions, type MakePdf, checkInvoicesOptions } from "@billwright/core"
import { EU_COUNTRIES, EU_STANDARD_RATES } from "@billwright/engine"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { Misconfigured } from "./Store.ts"

/** The most characters of the file. */
const MAX_CHARACTERS = 1_000_000

export const flags = {
  invoicesFile: Flag.String("invoices-file").pipe(
    Flag.withDescription(
      "A JSON file with the seller, taxes, time zone, numbers and due days of invoices: the option `invoices` of createBilling. Every process that bills needs the same. Default: none.",
    ),
    Flag.optional,
  ),
}

export interface InvoiceFlags {
  readonly invoicesFile: Option.Option<string>
}

/** Tables that the file may name instead of writing them out. */
const TABLES: Readonly<Record<string, object>> = { EU_STANDARD_RATES, EU_COUNTRIES }

const withTables = (field: string, value: unknown): unknown => {
  if (field === "quote") throw new TypeError("tax must be a table: a tax service needs a program of yours")
  if (field !== "rates" && field !== "union") return value
  if (typeof value !== "string") return value
  const table = TABLES[value]
  if (table !== undefined) return table
  throw new TypeError(`${field} must be a list, or one of ${Object.keys(TABLES).join(" and ")}`)
}

const parse = (text: string): InvoicesOptions => {
  if (text.length > MAX_CHARACTERS) throw new TypeError(`it must have at most ${MAX_CHARACTERS} characters`)
  const read: unknown = JSON.parse(text, withTables)
  if (typeof read !== "object" || read === null || Array.isArray(read)) {
    throw new TypeError("it must be a JSON object")
  }
  return checkInvoicesOptions(read)
}

const read = Effect.fnUntraced(function* (path: string) {
  const misconfigured = (cause: unknown) =>
    new Misconfigured({ message: `--invoices-file ${path}: ${(cause as Error).message}` })
  const text = yield* Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: misconfigured })
  return yield* Effect.try({ try: () => parse(text), catch: misconfigured })
})

/** The package is big, and few processes make PDF. So it is loaded for the first one. */
const pdf: MakePdf = async (document, facturX) =>
  (await import("@billwright/pdf")).documentPdf(document, facturX)

const hasPdf = (): boolean => {
  try {
    import.meta.resolve("@billwright/pdf")
    return true
  } catch {
    return false
  }
}

/** The options of services that make invoices. */
export const billingOptions = Effect.fnUntraced(function* ({
  invoicesFile,
}: InvoiceFlags): Effect.fn.Return<Pick<Billing.BillingOptions, "invoices" | "pdf">, Misconfigured> {
  return {
    ...(Option.isSome(invoicesFile) ? { invoices: yield* read(invoicesFile.value) } : {}),
    ...(hasPdf() ? { pdf } : {}),
  }
})
