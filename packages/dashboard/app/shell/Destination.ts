/**
 * Where what somebody pastes into the search leads.
 */

import { MIN_SEARCH_LENGTH } from "../customers/CustomerSearch.ts"

const SECTION_OF_PREFIX: Readonly<Record<string, string>> = {
  evt: "/events",
  dlv: "/deliveries",
  whe: "/endpoints",
  cus: "/customers",
}

const ID = /^(evt|dlv|whe|cus)_[0-7][0-9a-z]{25}$/
/** What was meant for an id, and is none. */
const LIKE_AN_ID = /^[a-z]{3}_/

/**
 * The address of an id's page, or of the customers with a text; `undefined` for what is no id, or too short to be
 * searched for.
 */
export const destination = (text: string): string | undefined => {
  const wanted = text.trim()
  const prefix = ID.exec(wanted)?.[1]
  const section = prefix === undefined ? undefined : SECTION_OF_PREFIX[prefix]
  if (section !== undefined) return `${section}/${wanted}`
  if (LIKE_AN_ID.test(wanted) || wanted.length < MIN_SEARCH_LENGTH) return undefined
  return `/customers?search=${encodeURIComponent(wanted)}`
}
