/**
 * A customer. Usage belongs to a customer, and events can be about one.
 */
import { Schema } from "effect"
import { Currency } from "../shared/Currency.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as Resource from "../shared/Resource.ts"
import { SearchText } from "../shared/Search.ts"
import * as Text from "../shared/Text.ts"
import { TimeZoneName } from "../shared/TimeZone.ts"
import { TEST_CLOCK_ID_PREFIX, TestClockId } from "./TestClock.ts"

/** The prefix of customer ids. */
export const CUSTOMER_ID_PREFIX = "cus"
/** The longest name, in code points. */
export const MAX_NAME_LENGTH = 256
/** The longest e-mail address (RFC 5321 §4.5.3.1.3: a path of 256 octets, minus its angle brackets). */
export const MAX_EMAIL_LENGTH = 254

/** The longest language tag, in characters (RFC 5646 §4.4.1). */
export const MAX_LOCALE_LENGTH = 35
/** The longest tax id, in code points. */
export const MAX_TAX_ID_LENGTH = 50
/** The longest line, city or region of an address, and the longest postcode, in code points. */
export const MAX_ADDRESS_LINE_LENGTH = 200
export const MAX_POSTCODE_LENGTH = 20
/** The most days that a customer has to pay an invoice. */
export const MAX_NET_DAYS = 365

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

/** A country by its ISO 3166-1 code. */
export const Country = Schema.String.check(
  Schema.isPattern(/^[A-Z]{2}$/u, { message: "must be an ISO 3166-1 country code such as DE" }),
)

/** A language by its tag (BCP 47), such as `de` or `de-AT`. */
export const Locale = Schema.String.check(
  Schema.isPattern(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/u, {
    message: "must be a language tag such as de or de-AT",
  }),
  Schema.isMaxLength(MAX_LOCALE_LENGTH, { message: `must be at most ${MAX_LOCALE_LENGTH} characters` }),
)

export const TaxId = Text.bounded(1, MAX_TAX_ID_LENGTH)

export const TaxStatus = Schema.Literals(["taxable", "exempt", "reverse_charge"])
export type TaxStatus = typeof TaxStatus.Type

export const CollectionMethod = Schema.Literals(["charge_automatically", "send_invoice"])
export type CollectionMethod = typeof CollectionMethod.Type

const addressLine = (description: string) =>
  Schema.optionalKey(Text.bounded(1, MAX_ADDRESS_LINE_LENGTH).annotate({ description }))

/** A postal address. Its country is a field of the customer, because taxes depend on it. */
export const Address = Schema.Struct({
  line1: addressLine("The first line: a street and a number."),
  line2: addressLine("The second line."),
  city: addressLine("The city."),
  region: addressLine("The state, province or county."),
  postcode: Schema.optionalKey(
    Text.bounded(1, MAX_POSTCODE_LENGTH).annotate({ description: "The postcode." }),
  ),
})
export interface Address extends Schema.Schema.Type<typeof Address> {}

const netDaysMessage = { message: `must be an integer from 0 to ${MAX_NET_DAYS}` }
export const NetDays = Schema.Int.annotate(netDaysMessage).check(
  Schema.isBetween({ minimum: 0, maximum: MAX_NET_DAYS }, netDaysMessage),
)

/** What subscriptions and invoices of a customer go by. */
const billed = {
  timezone: Field.textOrNull(
    TimeZoneName,
    "The IANA time zone of new subscriptions, unless they name another. `null`: `UTC`.",
  ),
  locale: Field.textOrNull(Locale, "The language of documents for the customer, such as `de-AT`."),
  currency: Field.textOrNull(
    Currency,
    "The ISO 4217 currency of new subscriptions to plans that have it, unless they name another.",
  ),
  country: Field.textOrNull(
    Country,
    "The ISO 3166-1 country whose taxes apply. `null`: the country of the seller.",
  ),
  taxId: Field.textOrNull(
    TaxId,
    "The tax id of a business, such as `DE123456789`. Check it before you store it: it is not checked here.",
  ),
  taxStatus: Field.text(
    TaxStatus,
    "`taxable`: by the rules of the country. `exempt`: never taxed. `reverse_charge`: the customer owes the tax itself.",
  ),
  address: Field.jsonOrNull(
    Address,
    "The postal address, without the country: `line1`, `line2`, `city`, `region` and `postcode`, all optional.",
  ),
  netDays: Field.jsonOrNull(
    NetDays,
    "How many days after it was issued an invoice has to be paid: 0 to 365. `null`: the default of your installation.",
  ),
  collectionMethod: Field.text(
    CollectionMethod,
    "`charge_automatically`: the payment provider takes the money of invoices from when they are issued. `send_invoice`: the customer pays by itself, and nothing is charged unless somebody asks for it. It counts for invoices that are issued from then on.",
  ),
}

const changeable = {
  timezone: Field.optional(billed.timezone),
  locale: Field.optional(billed.locale),
  currency: Field.optional(billed.currency),
  country: Field.optional(billed.country),
  taxId: Field.optional(billed.taxId),
  taxStatus: Field.optional(billed.taxStatus),
  address: Field.optional(billed.address),
  netDays: Field.optional(billed.netDays),
  collectionMethod: Field.optional(billed.collectionMethod),
}

const testClockId = Field.idOrNull(
  TestClockId,
  TEST_CLOCK_ID_PREFIX,
  "The test clock that its subscriptions and invoices go by. Only in test mode. It never changes. `null`: real time.",
)

const fields = {
  name: Field.text(CustomerName, "The customer's name."),
  email: Field.text(Email, "The customer's e-mail address. It is stored unchanged."),
  ...billed,
  testClockId,
  metadata: Field.json(Metadata.Metadata, "Your own free-form key/value pairs."),
}

/** The definition of the resource; see `Resource`. */
export const customers = Resource.make({
  type: "Customer",
  noun: "customer",
  title: "Customers",
  description: "A customer of yours. Usage belongs to a customer, and events can be about one.",
  path: "/customers",
  // A test clock.
  isReferring: true,
  scope: "customers",
  id: CustomerId,
  prefix: CUSTOMER_ID_PREFIX,
  isPersonal: true,
  personal: ["name", "email", "taxId", "address", "metadata"],
  keepsId: true,
  fields,
  times: {
    createdAt: Field.instant("When the customer was created."),
    updatedAt: Field.instant("When the customer last changed."),
  },
  create: {
    name: fields.name,
    email: fields.email,
    ...changeable,
    testClockId: Field.optional(testClockId),
    metadata: Field.optional(fields.metadata),
  },
  update: {
    name: Field.optional(fields.name),
    email: Field.optional(fields.email),
    ...changeable,
    metadata: Field.optional(
      Field.json(
        Schema.NullOr(Metadata.MetadataPatch),
        "Keys to set. A key with the value `null` is removed. Other keys stay as they are. `null` instead of an object removes all keys.",
      ),
    ),
  },
  filters: {
    email: Field.optional(Field.text(Email, "Only customers with exactly this e-mail address.")),
    testClockId: Field.optional(
      Field.id(TestClockId, TEST_CLOCK_ID_PREFIX, "Only customers that are attached to this test clock."),
    ),
    search: Field.optional(
      Field.text(
        SearchText,
        "Only customers with this text in their name or e-mail address. Upper and lower case don't matter.",
      ),
    ),
  },
  indexed: ["email", "testClockId"],
  searched: ["name", "email"],
  operations: {
    create: "Creates a customer and gives it an id.",
    remove: {
      verb: "Erase",
      past: "erased",
      description:
        "Erases all fields of the customer for good, and takes personal data out of its payment methods, its events and what receivers answered to them; of many events in the background. The id and the usage stay, so that totals stay correct. Issued invoices keep the name and address that they were sent to. New usage for the customer is answered with 404. Deleting again gives the same answer.",
    },
  },
  example: {
    id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    name: "Ada Lovelace",
    email: "ada@example.com",
    timezone: "Europe/Berlin",
    locale: "de",
    currency: "EUR",
    country: "DE",
    tax_id: "DE123456789",
    tax_status: "taxable",
    address: { line1: "Unter den Linden 1", city: "Berlin", postcode: "10117" },
    net_days: 30,
    collection_method: "charge_automatically",
    test_clock_id: null,
    metadata: { plan: "pro" },
    created_at: "2026-11-21T09:30:00.000Z",
    updated_at: "2026-11-21T09:30:00.000Z",
  },
  exampleOfUpdate: {
    request: { name: "Ada King", metadata: { plan: null } },
    response: { name: "Ada King", metadata: {}, updated_at: "2026-11-21T09:45:00.000Z" },
  },
})

/** A customer. `updatedAt` is when a field last changed. It begins as `createdAt`. */
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

/** The fields of a customer about whom nothing is known but the name and the e-mail address. */
export const NOTHING_KNOWN = {
  timezone: null,
  locale: null,
  currency: null,
  country: null,
  taxId: null,
  taxStatus: "taxable",
  address: null,
  netDays: null,
  collectionMethod: "charge_automatically",
} as const satisfies Partial<Customer>
