/**
 * Interprets a text that is typed to find a customer.
 */

const ID = /^cus_[0-7][0-9a-z]{25}$/

/** The shortest text that the API searches for, in characters. */
export const MIN_SEARCH_LENGTH = 3
const MAX_SEARCH_LENGTH = 100

/** The request for a text: a customer by id, customers with this text, or all customers. */
export const wantedOf = (text: string): { readonly id?: string; readonly search?: string } => {
  const wanted = text.trim()
  if (ID.test(wanted)) return { id: wanted }
  return wanted.length < MIN_SEARCH_LENGTH ? {} : { search: wanted.slice(0, MAX_SEARCH_LENGTH) }
}
