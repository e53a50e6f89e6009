/**
 * A customer. Usage belongs to a customer, and events can be about one.
 */
import { Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as Resource from "../shared/Resource.ts"
import { SearchText } from "../shared/Search.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of customer ids. */
export const CUSTOMER_ID_PREFIX = "cus"
/** The longest name, in code points. */
export const MAX_NAME_LENGTH = 256
/** The longest e-mail address (RFC 5321 §4.5.3.1.3: a path of 256 octets, minus its angle brackets). */
export const MAX_EMAIL_LENGTH = 254

export const CustomerId = Id.schema(CUSTOMER_ID_PREFIX).pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type

export const CustomerName = Text.bounded(1, MAX_NAME_LENGTH)

/**
 * An e-mail address: one `@` with text on both sides, no spaces, no control characters. Whether it exists is not
 * checked. It is stored as given and compared exactly.
 */
export const Email = Text.bounded(3, MAX_EMAIL_LENGTH).check(
  Schema.isPattern(/^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u, {
    message: "must be an e-mail address: one @, no spaces or control characters",
  }),
)

const fields = {
  name: Field.text(CustomerName, "The customer's name."),
  email: Field.text(Email, "The customer's e-mail address. It is stored unchanged."),
  metadata: Field.json(Metadata.Metadata, "Your own free-form key/value pairs."),
}

/** The definition of the resource; see `Resource`. */
export const customers = Resource.make({
  type: "Customer",
  noun: "customer",
  title: "Customers",
  description: "A customer of yours. Usage belongs to a customer, and events can be about one.",
  path: "/customers",
  scope: "customers",
  id: CustomerId,
  prefix: CUSTOMER_ID_PREFIX,
  isPersonal: true,
  keepsId: true,
  fields,
  times: {
    createdAt: Field.instant("When the customer was created."),
    updatedAt: Field.instant("When the customer last changed."),
  },
  create: { name: fields.name, email: fields.email, metadata: Field.optional(fields.metadata) },
  update: {
    name: Field.optional(fields.name),
    email: Field.optional(fields.email),
    metadata: Field.optional(
      Field.json(
        Schema.NullOr(Metadata.MetadataPatch),
        "Keys to set. A key with the value `null` is removed. Other keys stay as they are. `null` instead of an object removes all keys.",
      ),
    ),
  },
  filters: {
    email: Field.optional(Field.text(Email, "Only customers with exactly this e-mail address.")),
    search: Field.optional(
      Field.text(
        SearchText,
        "Only customers with this text in their name or e-mail address. Upper and lower case don't matter.",
      ),
    ),
  },
  indexed: ["email"],
  searched: ["name", "email"],
  operations: {
    create: "Creates a customer and gives it an id.",
    remove: {
      verb: "Erase",
      past: "erased",
      description:
        "Erases name, e-mail and metadata for good. The id and the usage stay, so that totals stay correct. New usage for the customer is answered with 404. Deleting again gives the same answer.",
    },
  },
  example: {
    id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    name: "Ada Lovelace",
    email: "ada@example.com",
    metadata: { plan: "pro" },
    created_at: "2026-11-21T09:30:00.000Z",
    updated_at: "2026-11-21T09:30:00.000Z",
  },
  exampleOfUpdate: {
    request: { name: "Ada King", metadata: { plan: null } },
    response: { name: "Ada King", metadata: {}, updated_at: "2026-11-21T09:45:00.000Z" },
  },
})

/** A customer. `updatedAt` is when name, e-mail or metadata last changed. It begins as `createdAt`. */
export const Customer = customers.Value
export interface Customer extends Schema.Schema.Type<typeof Customer> {}

/** The input of `Customers.create`. */
export const CreateCustomer = customers.Create
export interface CreateCustomer extends Schema.Schema.Type<typeof CreateCustomer> {}

/** The input of `Customers.update`. Fields left out stay as they are. `metadata: null` removes all metadata. */
export const UpdateCustomer = customers.Update
export interface UpdateCustomer extends Schema.Schema.Type<typeof UpdateCustomer> {}

/** Which customers to list. */
export const ListCustomers = customers.List
export interface ListCustomers extends Schema.Schema.Type<typeof ListCustomers> {}

/** The tenant has no customer with this id, or the customer was erased. */
export const CustomerNotFound = customers.NotFound
export type CustomerNotFound = InstanceType<typeof CustomerNotFound>

/** The customer has a subscription that has not ended, so that it can't be erased. Nothing has changed. */
export class CustomerHasSubscription extends Schema.TaggedError<CustomerHasSubscription>()(
  "CustomerHasSubscription",
  { id: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the customer ${this.id} has a subscription that has not ended: cancel it first`
  }
}
