/**
 * Takes the payments of invoices with Stripe, by a client of its official SDK that the host has made.
 */
export * as StripeProvider from "./StripeProvider.ts"
