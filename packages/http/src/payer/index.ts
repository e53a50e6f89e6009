/**
 * Pages for payers: signed links to invoices and to what a customer has, without a login.
 */
export * as PayerPages from "./PayerPages.ts"
