/**
 * Finds the page for a text in the search field.
 */

import { MIN_SEARCH_LENGTH } from "../customers/CustomerSearch.ts"

const SECTION_OF_PREFIX: Readonly<Record<string, string>> = {
  evt: "/events",
  dlv: "/deliveries",
  whe: "/endpoints",
  cus: "/customers",
  inv: "/invoices",
  sub: "/subscriptions",
  pay: "/payments",
  clk: "/test-clocks",
  aud: "/audit-log",
}

const ID = /^([a-z]{3})_[0-7][0-9a-z]{25}$/
/** The beginnings of the ids that have a page: `evt_, dlv_`. */
export const ID_PREFIXES = Object.keys(SECTION_OF_PREFIX)
  .map((prefix) => `${prefix}_`)
  .join(", ")

/** A text that looks like an id. */
const LIKE_AN_ID = /^[a-z]{3}_/

/**
 * The address of the page of an id, or of the customers with a text. `undefined` for a malformed id, or for a text that is
 * too short to search for.
 */
export const destination = (text: string): string | undefined => {
  const wanted = text.trim()
  const prefix = ID.exec(wanted)?.[1]
  const section = prefix === undefined ? undefined : SECTION_OF_PREFIX[prefix]
  if (section !== undefined) return `${section}/${wanted}`
  if (LIKE_AN_ID.test(wanted) || wanted.length < MIN_SEARCH_LENGTH) return undefined
  return `/customers?search=${encodeURIComponent(wanted)}`
}
