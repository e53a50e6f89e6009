/**
 * Where what somebody pastes into the search leads.
 */

const SECTION_OF_PREFIX: Readonly<Record<string, string>> = {
  evt: "/events",
  dlv: "/deliveries",
  whe: "/endpoints",
  cus: "/customers",
}

const ID = /^(evt|dlv|whe|cus)_[0-7][0-9a-z]{25}$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/** The address of an id's page, or of the customers with an e-mail address; `undefined` for anything else. */
export const destination = (text: string): string | undefined => {
  const wanted = text.trim()
  if (EMAIL.test(wanted)) return `/customers?email=${encodeURIComponent(wanted)}`
  const prefix = ID.exec(wanted)?.[1]
  const section = prefix === undefined ? undefined : SECTION_OF_PREFIX[prefix]
  return section === undefined ? undefined : `${section}/${wanted}`
}
