import type { Customer } from "../api/Types.ts"

const ID = /^cus_[0-7][0-9a-z]{25}$/
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** What a text asks the API for. */
export const wantedOf = (text: string): { readonly id?: string; readonly email?: string } => {
  const wanted = text.trim()
  if (ID.test(wanted)) return { id: wanted }
  return EMAIL.test(wanted) ? { email: wanted } : {}
}

/** Whether a customer has the text in name, address or id. */
export const matches = ({ email, id, name }: Customer, text: string): boolean => {
  const wanted = text.trim().toLowerCase()
  return [name, email, id].some((field) => field.toLowerCase().includes(wanted))
}
