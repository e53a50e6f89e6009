/**
 * Generators of ids, tenants and customers.
 */
import { ApiKey, Customer, Id, Metadata, Tenant, UsageRecord } from "@billwright/core"
import * as fc from "fast-check"
import { codePoint, text } from "./TextGenerators.ts"
import { instant } from "./TimeGenerators.ts"

// Ids and tenants

export const idOf = (prefix: string): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Id.format(prefix, bytes))

export const customerId = idOf(Customer.CUSTOMER_ID_PREFIX).map((id) => Customer.CustomerId.make(id))

export const usageRecordId = idOf(UsageRecord.USAGE_RECORD_ID_PREFIX).map((id) =>
  UsageRecord.UsageRecordId.make(id),
)

export const apiKeyId = idOf(ApiKey.API_KEY_ID_PREFIX).map((id) => ApiKey.ApiKeyId.make(id))

const ACCOUNT_CHARACTERS = "ABCXYZabcxyz0189_-"

export const accountId = fc
  .string({ unit: fc.constantFrom(...ACCOUNT_CHARACTERS), minLength: 1, maxLength: 64 })
  .map((id) => Tenant.AccountId.make(id))

export const mode = fc.constantFrom<Tenant.Mode>("live", "test")

export const tenant: fc.Arbitrary<Tenant.Tenant> = fc.record({ accountId, mode })

// Customers

const metadataKey = text(1, Metadata.MAX_METADATA_KEY_LENGTH).filter((key) => key !== "__proto__")
const metadataValue = text(0, Metadata.MAX_METADATA_VALUE_LENGTH)

export const metadata: fc.Arbitrary<Metadata.Metadata> = fc
  .array(fc.tuple(metadataKey, metadataValue), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries))

export const metadataPatch: fc.Arbitrary<Metadata.MetadataPatch> = fc
  .array(fc.tuple(metadataKey, fc.option(metadataValue)), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries))

export const customerName = text(1, Customer.MAX_NAME_LENGTH)

const emailPart = fc.string({
  unit: codePoint.filter((unit) => /^[^@\s\p{Cc}]$/u.test(unit)),
  minLength: 1,
  maxLength: 20,
})

export const email = fc.tuple(emailPart, emailPart).map(([local, domain]) => `${local}@${domain}`)

/** What subscriptions and invoices of a customer go by. */
const billed = {
  timezone: fc.option(fc.constantFrom("UTC", "Europe/Berlin", "America/New_York")),
  locale: fc.option(fc.constantFrom("de", "en-GB", "zh-Hant-TW")),
  currency: fc.option(fc.constantFrom("EUR", "USD", "JPY")),
  country: fc.option(fc.constantFrom("DE", "US", "JP")),
  taxId: fc.option(text(1, Customer.MAX_TAX_ID_LENGTH)),
  taxStatus: fc.constantFrom<Customer.TaxStatus>("taxable", "exempt", "reverse_charge"),
  address: fc.option(
    fc.record<Customer.Address>(
      {
        line1: text(1, Customer.MAX_ADDRESS_LINE_LENGTH),
        city: text(1, Customer.MAX_ADDRESS_LINE_LENGTH),
        postcode: text(1, Customer.MAX_POSTCODE_LENGTH),
      },
      { requiredKeys: [] },
    ),
  ),
  collectionMethod: fc.constantFrom<Customer.CollectionMethod>("charge_automatically", "send_invoice"),
  netDays: fc.option(fc.integer({ min: 0, max: Customer.MAX_NET_DAYS })),
}

export const createCustomer: fc.Arbitrary<Customer.CreateCustomer> = fc.record(
  { name: customerName, email, ...billed, metadata },
  { requiredKeys: ["name", "email"] },
)

export const updateCustomer: fc.Arbitrary<Customer.UpdateCustomer> = fc.record(
  { name: customerName, email, ...billed, metadata: metadataPatch },
  { requiredKeys: [] },
)

export const customer: fc.Arbitrary<Customer.Customer> = fc.record({
  id: customerId,
  name: customerName,
  email,
  ...billed,
  // Only a test clock that is stored could be given.
  testClockId: fc.constant(null),
  metadata,
  createdAt: instant,
  updatedAt: instant,
})
