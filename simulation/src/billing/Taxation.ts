/**
 * How the seller of the simulation is taxed, and what its invoices must have been taxed by.
 */
import type { Customer } from "@billwright/core"
import type { TaxTable } from "@billwright/engine"
import type { Choice } from "../world/Choice.ts"

const UNION = ["DE", "FR"]
/** The local day from which the rate of the seller's country is another one. */
const RISES_ON = "2027-01-10"
const RATES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DE: { standard: "19", reduced: "7" },
  FR: { standard: "20", reduced: "5.5" },
}
const RISEN = "21.3"

/** A seller in Germany, whose taxes are on top of its prices or within them. */
export const taxTable = (behavior: TaxTable["behavior"]): TaxTable => ({
  behavior,
  seller: "DE",
  union: UNION,
  rates: [
    ...Object.entries(RATES).flatMap(([country, byCode]) =>
      Object.entries(byCode).map(([code, rate]) => ({ country, code, rate })),
    ),
    { country: "DE", code: "standard", rate: RISEN, from: RISES_ON },
  ],
})

type Taxed = Pick<Customer.Customer, "country" | "taxId" | "taxStatus">

/** A customer of the country of the seller, of another one, or of one without a rate, and a business or not. */
export const taxedAs = (choice: Choice): Taxed => choice.pick(CUSTOMERS)!

const CUSTOMERS: ReadonlyArray<Taxed> = [
  { country: null, taxId: null, taxStatus: "taxable" },
  { country: "DE", taxId: "DE123456789", taxStatus: "taxable" },
  { country: "FR", taxId: null, taxStatus: "taxable" },
  { country: "FR", taxId: "FR12345678901", taxStatus: "taxable" },
  { country: "DE", taxId: null, taxStatus: "exempt" },
  { country: "US", taxId: null, taxStatus: "taxable" },
]

/** The rate of a line that has no fixed one: by the rules, and not by the table. `0` where nothing is taxed. */
export const rateOf = ({ country, taxId, taxStatus }: Taxed, taxCode: string | null, day: string): string => {
  const at = country ?? "DE"
  const isBusinessAbroad = at !== "DE" && taxId !== null
  const rates = RATES[at]
  if (taxStatus !== "taxable" || isBusinessAbroad || rates === undefined) return "0"
  const code = taxCode ?? "standard"
  return at === "DE" && code === "standard" && day >= RISES_ON ? RISEN : rates[code]!
}
