/**
 * Who sends invoices: what stands on each of them.
 */
import { checkKnown, checkStorable, checkText, type Fields, isFields } from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import { isCountry } from "../invoices/Tax.ts"

/** A postal address, without its country. */
export interface PostalAddress {
  readonly line1?: string | undefined
  readonly line2?: string | undefined
  readonly city?: string | undefined
  readonly region?: string | undefined
  readonly postcode?: string | undefined
}

/** The seller, as invoices and credit notes show it. */
export interface Seller {
  readonly name: string
  readonly address?: PostalAddress
  /** ISO 3166-1, two upper-case letters. It also decides whether the tax is called VAT. */
  readonly country?: string
  /** Such as a VAT id. */
  readonly taxId?: string
  /** Where the business is registered, and as what: `HRB 12345, Amtsgericht Berlin`. */
  readonly registration?: string
  /** How to reach it: an address for mail, a phone number. Lines are kept. */
  readonly contact?: string
  /** A picture as a `data:` URL of PNG or JPEG: at most 256 KiB. Nothing is loaded from elsewhere. */
  readonly logo?: string
  /** A colour such as `#0b7285`. Default: `#1f2937`. */
  readonly color?: string
  /** How to pay: a bank account, for example. Lines are kept. */
  readonly paymentInstructions?: string
  /** What else has to stand on each document. Lines are kept. */
  readonly footer?: string
}

/** Longest texts, in characters. */
const SELLER_LIMITS = { line: 200, text: 2_000, logo: 256 * 1024 } as const

export const DEFAULT_COLOR = "#1f2937"

const ADDRESS: ReadonlyArray<string> = ["line1", "line2", "city", "region", "postcode"]
const LINES: ReadonlyArray<string> = ["taxId", "registration"]
const PARAGRAPHS: ReadonlyArray<string> = ["contact", "paymentInstructions", "footer"]
const FIELDS = ["name", "address", "country", "logo", "color", ...LINES, ...PARAGRAPHS]

/** In base64, with the first bytes of every PNG, and of every JPEG. What makes PDF reads no other picture. */
const LOGO = /^data:image\/(?:png;base64,iVBORw0KGgo|jpeg;base64,\/9j\/)[A-Za-z0-9+/]*={0,2}$/
const COLOR = /^#[0-9a-f]{6}$/i

const checkAddress = (at: Problems, address: unknown): void => {
  if (!isFields(address)) return at.add(`must be an object of ${ADDRESS.join(", ")}`)
  checkKnown(at, address, ADDRESS)
  for (const name of ADDRESS) {
    if (address[name] !== undefined) checkText(at.in(name), address[name], SELLER_LIMITS.line)
  }
}

/** Text of several lines. */
const checkParagraph = (at: Problems, text: unknown): void => {
  if (typeof text !== "string" || text.trim() === "" || text.length > SELLER_LIMITS.text) {
    at.add(`must be a text of 1 to ${SELLER_LIMITS.text} characters`)
  } else checkStorable(at, text.replaceAll(/\r?\n/g, ""))
}

const checkLogo = (at: Problems, logo: unknown): void => {
  if (typeof logo !== "string" || logo.length > SELLER_LIMITS.logo || !LOGO.test(logo)) {
    at.add(
      "must be a data: URL of PNG or JPEG in base64, at most 256 KiB, with a picture of the kind it names",
    )
  }
}

const checkFields = (at: Problems, seller: Fields): void => {
  checkKnown(at, seller, FIELDS)
  checkText(at.in("name"), seller["name"], SELLER_LIMITS.line)
  const given = (name: string, check: (inside: Problems, value: unknown) => void) => {
    if (seller[name] !== undefined) check(at.in(name), seller[name])
  }
  for (const name of LINES) given(name, (inside, value) => checkText(inside, value, SELLER_LIMITS.line))
  for (const name of PARAGRAPHS) given(name, checkParagraph)
  given("address", checkAddress)
  given("logo", checkLogo)
  given("country", (inside, value) => {
    if (!isCountry(value)) inside.add("must be two upper-case letters")
  })
  given("color", (inside, value) => {
    if (typeof value !== "string" || !COLOR.test(value)) inside.add("must be a colour such as #0b7285")
  })
}

/** What is wrong with a seller. */
export const problemsOfSeller = (seller: unknown): ReadonlyArray<Problem> => {
  const at = new Problems("seller")
  if (isFields(seller)) checkFields(at, seller)
  else at.add("must be an object with a name")
  return at.found
}
