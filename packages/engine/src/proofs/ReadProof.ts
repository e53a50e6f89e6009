/**
 * Reads the proof of an invoice from its JSON, which anybody may have written.
 */
import type { Line } from "../invoices/Line.ts"
import {
  type IssuedInvoice,
  type Proof,
  PROOF_VERSION,
  type ProofPlan,
  type ProofTax,
} from "./ProofDocument.ts"

/** The value is not the document of a proof. The message names the field. */
export class ProofError extends Error {
  override readonly name = "ProofError"
}

type Fields = Readonly<Record<string, unknown>>

const INTEGER = /^(?:0|-?[1-9]\d{0,37})$/
const HASH = /^[0-9a-f]{64}$/

const refuse = (path: string, problem: string): never => {
  throw new ProofError(`${path} ${problem}`)
}

const fieldsOf = (path: string, value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : refuse(path, "must be an object")

const listOf = <A>(
  path: string,
  value: unknown,
  read: (path: string, item: unknown) => A,
): ReadonlyArray<A> =>
  Array.isArray(value)
    ? value.map((item: unknown, index) => read(`${path}[${String(index)}]`, item))
    : refuse(path, "must be a list")

const text = (path: string, value: unknown): string =>
  typeof value === "string" ? value : refuse(path, "must be a text")

const integer = (path: string, value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : refuse(path, "must be an integer")

const hash = (path: string, value: unknown): string =>
  typeof value === "string" && HASH.test(value) ? value : refuse(path, "must be a SHA-256 in hexadecimal")

const orNull = <A>(path: string, value: unknown, read: (path: string, value: unknown) => A): A | null =>
  value === null ? null : read(path, value)

/** An object whose named fields are amounts of money, in texts. The other fields stay as they are. */
const withAmounts = (path: string, value: unknown, names: ReadonlyArray<string>): Fields => {
  const fields = fieldsOf(path, value)
  const amounts = names.flatMap((name) => {
    const amount = fields[name]
    if (amount === undefined) return []
    return typeof amount === "string" && INTEGER.test(amount)
      ? [[name, BigInt(amount)] as const]
      : refuse(`${path}.${name}`, "must be an integer of the minor unit, in a text")
  })
  return { ...fields, ...Object.fromEntries(amounts) }
}

/** The same, where all of the amounts are required. */
const withAll = (path: string, value: unknown, names: ReadonlyArray<string>): Fields => {
  const fields = withAmounts(path, value, names)
  for (const name of names) if (fields[name] === undefined) refuse(`${path}.${name}`, "is required")
  return fields
}

/** The credits that a line burns. */
const burntOf = (path: string, value: unknown): Fields => {
  const burns = withAll(path, value, ["amount", "gross"])
  text(`${path}.unit`, burns["unit"])
  if (burns["decimals"] !== undefined) integer(`${path}.decimals`, burns["decimals"])
  return burns
}

const lineOf = (path: string, value: unknown): Line => {
  const line = withAll(path, value, ["amount", "discount", "net"])
  text(`${path}.id`, line["id"])
  text(`${path}.kind`, line["kind"])
  orNull(`${path}.quantity`, line["quantity"], text)
  orNull(`${path}.charge`, line["charge"], text)
  fieldsOf(`${path}.tax`, line["tax"])
  orNull(`${path}.receipt`, line["receipt"], fieldsOf)
  listOf(`${path}.steps`, line["steps"], fieldsOf)
  const origin = orNull(`${path}.origin`, line["origin"], (at, given) => {
    const read = withAll(at, given, ["gross"])
    const plan = fieldsOf(`${at}.plan`, read["plan"])
    text(`${at}.plan.key`, plan["key"])
    integer(`${at}.plan.version`, plan["version"])
    return "burns" in read ? { ...read, burns: orNull(`${at}.burns`, read["burns"], burntOf) } : read
  })
  return { ...line, origin } as unknown as Line
}

const STEP_AMOUNTS = ["amount", "base", "taken", "taxable", "tax", "credited"] as const

const invoiceOf = (path: string, value: unknown): IssuedInvoice => {
  const invoice = withAll(path, value, ["subtotal", "tax", "total", "credited"])
  const read = {
    ...invoice,
    id: text(`${path}.id`, invoice["id"]),
    currency: text(`${path}.currency`, invoice["currency"]),
    number: text(`${path}.number`, invoice["number"]),
    issuedAt: integer(`${path}.issuedAt`, invoice["issuedAt"]),
    lines: listOf(`${path}.lines`, invoice["lines"], lineOf),
    discounts: listOf(`${path}.discounts`, invoice["discounts"], (at, one) => {
      const discount = withAll(at, one, ["base", "amount"])
      const parts = listOf(`${at}.parts`, discount["parts"], (of, part) => withAll(of, part, ["amount"]))
      return { ...discount, parts }
    }),
    taxes: listOf(`${path}.taxes`, invoice["taxes"], (at, one) => withAll(at, one, ["taxable", "amount"])),
    applied: listOf(`${path}.applied`, invoice["applied"], (at, one) => withAll(at, one, ["amount"])),
    steps: listOf(`${path}.steps`, invoice["steps"], (at, one) => withAmounts(at, one, STEP_AMOUNTS)),
  }
  return read as unknown as IssuedInvoice
}

const planOf = (path: string, value: unknown): ProofPlan => {
  const plan = fieldsOf(path, value)
  const terms = fieldsOf(`${path}.terms`, plan["terms"])
  listOf(`${path}.terms.charges`, terms["charges"], fieldsOf)
  return {
    key: text(`${path}.key`, plan["key"]),
    version: integer(`${path}.version`, plan["version"]),
    hash: hash(`${path}.hash`, plan["hash"]),
    terms: terms as unknown as ProofPlan["terms"],
  }
}

const taxOf = (path: string, value: unknown): ProofTax => {
  const tax = fieldsOf(path, value)
  const quote = orNull(`${path}.quote`, tax["quote"], fieldsOf)
  if (quote !== null) fieldsOf(`${path}.quote.rates`, quote["rates"])
  return {
    customer: fieldsOf(`${path}.customer`, tax["customer"]) as unknown as ProofTax["customer"],
    asked: orNull(`${path}.asked`, tax["asked"], hash),
    quote: quote as unknown as ProofTax["quote"],
  }
}

/**
 * Reads the document of a proof: the value of its JSON. Throws a {@link ProofError} that names the field when it is
 * something else, or of another version.
 */
export const readProof = (value: unknown): Proof => {
  const proof = fieldsOf("document", value)
  if (proof["version"] !== PROOF_VERSION) {
    return refuse("version", `must be ${String(PROOF_VERSION)}, which this release reads`)
  }
  const position = integer("position", proof["position"])
  if (position < 1) refuse("position", "must be 1 or more")
  return {
    version: PROOF_VERSION,
    accountId: text("accountId", proof["accountId"]),
    mode: text("mode", proof["mode"]),
    position,
    previous: hash("previous", proof["previous"]),
    format: text("format", proof["format"]),
    invoice: invoiceOf("invoice", proof["invoice"]),
    plans: listOf("plans", proof["plans"], planOf),
    tax: taxOf("tax", proof["tax"]),
  }
}
