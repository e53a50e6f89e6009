/**
 * Electronic invoices of all kinds, made through the public API as a host makes them.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EU_COUNTRIES, EU_STANDARD_RATES } from "@billwright/engine"
import { type Billing, createBilling, type Invoice } from "billwright"
import { memory } from "billwright/memory"

const SELLER = {
  name: "Kartenhaus & Söhne GmbH",
  address: { line1: "Domplatz 1", city: "Mainz", postcode: "55116" },
  country: "DE",
  taxId: "DE136695976",
  registration: "HRB 12345",
  paymentInstructions: "IBAN DE02 1203 0000 0000 2020 51\nKartenhaus",
  footer: 'Geschäftsführerin: <Jane> "Doe"',
}
const RATES = [...EU_STANDARD_RATES, { country: "DE", code: "reduced", rate: "7" }]
const ADDRESS = { line1: "Rue de la Paix 1", line2: "2e étage", city: "Paris", postcode: "75002" }

type Behavior = "exclusive" | "inclusive"

const open = (behavior: Behavior, taxed: boolean): Promise<Billing> =>
  createBilling({
    store: memory(),
    log: false,
    invoices: {
      seller: SELLER,
      timezone: "Europe/Berlin",
      ...(taxed ? { tax: { behavior, seller: "DE", rates: RATES, union: EU_COUNTRIES } } : {}),
    },
  })

const PLAN = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR", "JPY"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", name: "Base fee", model: "flat", timing: "advance", price: { EUR: "29.90", JPY: "3000" } },
    {
      key: "seats",
      name: "Seats",
      model: "unit",
      timing: "advance",
      quantity: "seats",
      price: { EUR: "12.345", JPY: "1200" },
    },
  ],
} as const

/** A line of an invoice that is made by hand. */
type Lines = ReadonlyArray<{ description: string; amount: number; taxCode?: string }>
const WORK: Lines = [
  { description: "Workshop: \u201cmaps & <globes>\u201d", amount: 123_456 },
  { description: "Travel", amount: 8_905 },
]

const customerOf = async (billing: Billing, more: object): Promise<string> => {
  const ada = {
    name: "Ada Lovelace",
    email: "ada@example.com",
    country: "DE",
    address: ADDRESS,
    currency: "EUR",
  }
  return (await billing.customers.create({ ...ada, ...more })).id
}

const issue = async (billing: Billing, customer: object, lines: Lines): Promise<Invoice> => {
  const { id } = await billing.invoices.create({ customerId: await customerOf(billing, customer), lines })
  return billing.invoices.finalize(id)
}

/** Makes the documents of one seller's settings, and gives each with its name. */
const ofSeller = async (
  behavior: Behavior,
  taxed: boolean,
  write: (name: string, xml: { readonly ubl: string; readonly cii: string }) => void,
): Promise<void> => {
  const billing = await open(behavior, taxed)
  const both = async (from: Billing["invoices"] | Billing["creditNotes"], id: string) => ({
    ubl: await from.ubl(id),
    cii: await from.cii(id),
  })
  const invoice = async (name: string, { id }: { readonly id: string }) =>
    write(`invoice-${name}-${behavior}${taxed ? "" : "-untaxed"}`, await both(billing.invoices, id))

  const plain = await issue(billing, {}, WORK)
  await invoice("plain", plain)
  const note = await billing.creditNotes.create({
    invoiceId: plain.id,
    amount: 1_001,
    reason: "unsatisfactory",
  })
  write(`credit-note-part-${behavior}${taxed ? "" : "-untaxed"}`, await both(billing.creditNotes, note.id))
  const rest = await billing.creditNotes.create({ invoiceId: plain.id, reason: "order_change" })
  write(`credit-note-rest-${behavior}${taxed ? "" : "-untaxed"}`, await both(billing.creditNotes, rest.id))
  await invoice("rebate", await issue(billing, {}, [...WORK, { description: "Rebate", amount: -10_001 }]))
  const names = { name: "شركة الخرائط", address: { line1: "x".repeat(200), city: "\u0007Zürich" } }
  await invoice("names", await issue(billing, names, WORK))
  await invoice("yen", await issue(billing, { currency: "JPY" }, WORK))
  if (!taxed) return billing.close()

  await invoice(
    "two-rates",
    await issue(billing, {}, [...WORK, { description: "Book", amount: 3_333, taxCode: "reduced" }]),
  )
  await invoice("union", await issue(billing, { country: "FR" }, WORK))
  const business = { country: "FR", taxId: "FR40303265045", taxStatus: "reverse_charge" }
  await invoice("reverse-charge", await issue(billing, business, WORK))
  await invoice("exempt", await issue(billing, { taxStatus: "exempt" }, WORK))

  const credited = await customerOf(billing, {})
  await billing.credits.grant({ customerId: credited, unit: "EUR", kind: "paid", amount: 5_000 })
  await billing.credits.grant({ customerId: credited, unit: "EUR", kind: "promotional", amount: 777 })
  const paid = await billing.invoices.create({ customerId: credited, lines: WORK })
  await invoice("credits", await billing.invoices.finalize(paid.id))

  await billing.plans.push([PLAN])
  await billing.coupons.create({ code: "THIRD", name: "A third", percent: "33.3333", duration: "once" })
  const subscribed = await customerOf(billing, {})
  const quantities = { seats: "7" }
  await billing.subscriptions.create({ customerId: subscribed, plan: "pro", quantities, coupon: "THIRD" })
  const draft = (await billing.invoices.list({ customerId: subscribed }).page()).data[0]!
  await invoice("subscription", await billing.invoices.finalize(draft.id))
  return billing.close()
}

/** Writes all documents to a folder, and gives their paths. */
export const writeCorpus = async (folder: string): Promise<ReadonlyArray<string>> => {
  mkdirSync(folder, { recursive: true })
  const paths: Array<string> = []
  const write = (name: string, xml: { readonly ubl: string; readonly cii: string }) => {
    for (const [syntax, text] of Object.entries(xml)) {
      const path = join(folder, `${name}.${syntax}.xml`)
      writeFileSync(path, text)
      paths.push(path)
    }
  }
  await ofSeller("exclusive", true, write)
  await ofSeller("inclusive", true, write)
  await ofSeller("exclusive", false, write)
  return paths
}
