/**
 * A customer: whom usage and events belong to.
 */
import { Schema } from "effect"
import * as Id from "../shared/Id.ts"
import * as Metadata from "../shared/Metadata.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of customer ids. */
export const CUSTOMER_ID_PREFIX = "cus"
/** Longest name, in code points. */
export const MAX_NAME_LENGTH = 256
/** Longest e-mail address (RFC 5321 §4.5.3.1.3: a path of 256 octets less its angle brackets). */
export const MAX_EMAIL_LENGTH = 254

export const CustomerId = Id.schema(CUSTOMER_ID_PREFIX).pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type

export const CustomerName = Text.bounded(1, MAX_NAME_LENGTH)

/**
 * An e-mail address as far as it can be judged without sending to it: one `@` with something on both sides,
 * no spaces, no control characters. Kept as given; compared exactly.
 */
export const Email = Text.bounded(3, MAX_EMAIL_LENGTH).check(
  Schema.isPattern(/^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u, {
    message: "must be an e-mail address: one @, no spaces or control characters",
  }),
)

export const Customer = Schema.Struct({
  id: CustomerId,
  name: CustomerName,
  email: Email,
  metadata: Metadata.Metadata,
  /** When the customer was created. */
  createdAt: Schema.DateTimeUtc,
  /** When name, e-mail or metadata last changed; at first the same as `createdAt`. */
  updatedAt: Schema.DateTimeUtc,
})
export interface Customer extends Schema.Schema.Type<typeof Customer> {}

/** What it takes to create a customer. */
export const CreateCustomer = Schema.Struct({
  name: CustomerName,
  email: Email,
  metadata: Schema.optionalKey(Metadata.Metadata),
})
export interface CreateCustomer extends Schema.Schema.Type<typeof CreateCustomer> {}

/** A change: what is left out stays. `metadata: null` removes all of it. */
export const UpdateCustomer = Schema.Struct({
  name: Schema.optionalKey(CustomerName),
  email: Schema.optionalKey(Email),
  metadata: Schema.optionalKey(Schema.NullOr(Metadata.MetadataPatch)),
})
export interface UpdateCustomer extends Schema.Schema.Type<typeof UpdateCustomer> {}

/** Shortest text that customers are searched by, in code points: shorter ones are in too many names. */
export const MIN_SEARCH_LENGTH = 3
/** Longest text that customers are searched by, in code points. */
export const MAX_SEARCH_LENGTH = 100

/** Text as it is searched: whatever the case, and however its accents are written. */
export const folded = (text: string): string => text.normalize("NFC").toLowerCase()

/** What of a customer is searched. */
export const searchText = ({ email, name }: Pick<Customer, "email" | "name">): string =>
  folded(`${name}\n${email}`)

/** Text to search for: 3 to 100 characters, those of an accented letter as one. */
export const Search = Text.bounded(MIN_SEARCH_LENGTH, MAX_SEARCH_LENGTH).check(
  Schema.makeFilter<string>((text) => [...folded(text)].length >= MIN_SEARCH_LENGTH, {
    message: `must be ${MIN_SEARCH_LENGTH} to ${MAX_SEARCH_LENGTH} characters`,
    toJsonSchema: () => ({}),
  }),
)

/** Which customers to list. */
export const ListCustomers = Schema.Struct({
  ...pageFields,
  /** Only customers with exactly this e-mail address. */
  email: Schema.optionalKey(Email),
  /** Only customers with this text somewhere in their name or e-mail address, whatever the case. */
  search: Schema.optionalKey(Search),
})
export interface ListCustomers extends Schema.Schema.Type<typeof ListCustomers> {}

/**
 * There is no such customer for this tenant, or it was erased.
 *
 * `field` names the part of the input that held the id, where there is one (`records[3].customerId`).
 */
export class CustomerNotFound extends Schema.TaggedError<CustomerNotFound>()(
  "CustomerNotFound",
  { id: Schema.String, field: Schema.optionalKey(Schema.String) },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `no customer has the id ${this.id}`
  }
}
