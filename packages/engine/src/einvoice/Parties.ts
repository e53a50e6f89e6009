/**
 * The seller and the buyer of an electronic invoice.
 */
import type { Recipient } from "../documents/Parties.ts"
import type { PostalAddress, Seller } from "../documents/Seller.ts"
import type { TaxCategory } from "../invoices/Tax.ts"
import type { En16931Party, En16931Problem } from "./En16931.ts"

/** A VAT id begins with its country (BR-CO-09); Greece writes `EL`, and Northern Ireland `XI`. */
const VAT_ID = /^[A-Z]{2}[A-Z0-9+*.]{2,}$/

const vatIdOf = (taxId: string | null | undefined): string | null => {
  const written = (taxId ?? "").replaceAll(/[\s.-]/g, "").toUpperCase()
  return VAT_ID.test(written) ? written : null
}

const textOrNull = (text: string | null | undefined): string | null => {
  const trimmed = text?.trim() ?? ""
  return trimmed === "" ? null : trimmed
}

const addressOf = (address: PostalAddress | null | undefined) => ({
  street: textOrNull(address?.line1),
  addition: textOrNull(address?.line2),
  city: textOrNull(address?.city),
  postcode: textOrNull(address?.postcode),
  region: textOrNull(address?.region),
})

const missing = (term: string, field: string, problem = "is required"): En16931Problem => ({
  term,
  field,
  problem,
})

/** Categories of sales between businesses, which want to know both of them. */
const BETWEEN_BUSINESSES: ReadonlySet<TaxCategory> = new Set(["AE", "K"])

const problemsOfSeller = (
  seller: Seller,
  {
    country,
    registration,
    taxRegistration,
    vatId,
  }: Omit<En16931Party, "country"> & { country: string | null },
  categories: ReadonlySet<TaxCategory>,
): ReadonlyArray<En16931Problem> => {
  const found: Array<En16931Problem> = []
  if (textOrNull(seller.name) === null) found.push(missing("BT-27", "seller.name"))
  if (country === null) found.push(missing("BT-40", "seller.country"))
  if (categories.has("O")) {
    // BR-O-02: an invoice that is not subject to VAT has no VAT id. So BR-CO-26 wants another id of the seller.
    if (registration === null) {
      found.push(missing("BT-30", "seller.registration", "is required where nothing is subject to VAT"))
    }
  } else if (vatId === null) {
    const isOther = taxRegistration !== null
    const problem = isOther
      ? "must be a VAT id that begins with its country, such as DE123456789"
      : "is required, and must be a VAT id"
    found.push(missing("BT-31", "seller.taxId", problem))
  }
  return found
}

const problemsOfBuyer = (
  { country, name, vatId }: Pick<En16931Party, "name" | "vatId"> & { readonly country: string | null },
  categories: ReadonlySet<TaxCategory>,
): ReadonlyArray<En16931Problem> => {
  const found: Array<En16931Problem> = []
  if (name === "") found.push(missing("BT-44", "customer.name"))
  if (country === null) found.push(missing("BT-55", "customer.country"))
  if (vatId === null && [...categories].some((category) => BETWEEN_BUSINESSES.has(category))) {
    found.push(
      missing(
        "BT-48",
        "customer.taxId",
        "must be a VAT id that begins with its country: the buyer owes the tax",
      ),
    )
  }
  return found
}

/** Both parties, or what is missing of them for lines of such categories. */
export const partiesOf = (
  seller: Seller | null,
  customer: Recipient,
  categories: ReadonlySet<TaxCategory>,
): {
  readonly problems: ReadonlyArray<En16931Problem>
  readonly seller: En16931Party
  readonly buyer: En16931Party
} => {
  // BR-O-02, BR-O-03, BR-O-04: where nothing is subject to VAT, nobody has a VAT id.
  const isSubject = !categories.has("O")
  const sellersVat = vatIdOf(seller?.taxId)
  const from = {
    name: textOrNull(seller?.name) ?? "",
    ...addressOf(seller?.address),
    country: seller?.country ?? null,
    vatId: isSubject ? sellersVat : null,
    taxRegistration: isSubject && sellersVat === null ? textOrNull(seller?.taxId) : null,
    registration: textOrNull(seller?.registration),
  }
  const buyersVat = vatIdOf(customer.taxId)
  const to = {
    name: textOrNull(customer.name) ?? "",
    ...addressOf(customer.address),
    country: customer.country,
    vatId: isSubject ? buyersVat : null,
    taxRegistration: null,
    registration: null,
  }
  const problems = [
    ...(seller === null
      ? [missing("BG-4", "seller", "is required: say in the options who sends the invoices")]
      : problemsOfSeller(seller, from, categories)),
    ...problemsOfBuyer(to, categories),
  ]
  return {
    problems,
    seller: { ...from, country: from.country ?? "" },
    buyer: { ...to, country: to.country ?? "" },
  }
}
