/** A host with the pages for payers, for tests in a browser: on a port of this machine, with a fake payment provider. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { generateEncryptionKey, type PayerPageMount } from "billwright"
import { createTestBilling, type FakePayments, fakePayments, type TestBilling } from "billwright/testing"

/** A name that does something where it is not shown as text. */
export const HOSTILE = `<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>`

const PLAN = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", name: "Base fee", model: "flat", price: { EUR: "49" } },
    {
      key: "calls",
      name: "API calls",
      model: "graduated",
      meter: "calls",
      tiers: [
        { up_to: "1000", price: { EUR: "0" } },
        { up_to: "10000", price: { EUR: "0.004" } },
        { price: { EUR: "0.002" } },
      ],
    },
    { key: "storage", name: "Storage", model: "unit", meter: "storage", price: { EUR: "0.12" } },
  ],
} as const

export interface PayerHost {
  readonly url: string
  readonly billing: TestBilling
  readonly payments: FakePayments
  /** A customer who pays invoices by hand, with an invoice that is open. */
  readonly invoiced: (fields?: object) => Promise<{ readonly customerId: string; readonly invoiceId: string }>
  /** A customer with a plan and usage, an invoice that is paid, and one that is open. */
  readonly subscribed: (
    fields?: object,
  ) => Promise<{ readonly customerId: string; readonly subscriptionId: string }>
  readonly close: () => Promise<void>
}

const listen = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export const startHost = async (mount: PayerPageMount = {}): Promise<PayerHost> => {
  // Requests come when there are links, which need the address first.
  const server = await listen((request, response) => answer(request, response))
  const payments = fakePayments()
  const billing = await createTestBilling({
    now: "2026-11-21T09:30:00Z",
    payments,
    log: false,
    invoices: {
      seller: {
        name: "Nordlicht GmbH",
        country: "DE",
        address: { line1: "Hafenstraße 1", postcode: "20457", city: "Hamburg" },
      },
      timezone: "Europe/Berlin",
    },
    payerPages: { url: `${server.url}/pay`, keys: generateEncryptionKey() },
  })
  const answer = billing.payerPages(mount).node()
  await billing.meters.create({
    key: "calls",
    name: "API calls",
    aggregation: "sum",
    productId: "api",
    unit: "call",
  })
  await billing.meters.create({
    key: "storage",
    name: "Storage",
    aggregation: "max",
    productId: "disk",
    unit: "GB",
  })
  await billing.plans.push(PLAN)

  const newCustomer = (fields: object) =>
    billing.customers.create({
      name: "Ada Lovelace",
      email: "ada@example.com",
      country: "DE",
      timezone: "Europe/Berlin",
      currency: "EUR",
      collectionMethod: "send_invoice",
      ...fields,
    })
  const issue = async (customerId: string, lines: ReadonlyArray<{ description: string; amount: number }>) => {
    const { id } = await billing.invoices.create({ customerId, lines })
    return billing.invoices.finalize(id)
  }
  return {
    url: server.url,
    billing,
    payments,
    invoiced: async (fields = {}) => {
      const { id: customerId } = await newCustomer(fields)
      const lines = [
        { description: "Workshop", amount: 90_000 },
        { description: "Travel", amount: 12_050 },
      ]
      return { customerId, invoiceId: (await issue(customerId, lines)).id }
    },
    subscribed: async (fields = {}) => {
      const { id: customerId } = await newCustomer(fields)
      const paid = await issue(customerId, [{ description: "Set-up", amount: 25_000 }])
      await billing.payments.record({ invoiceId: paid.id, amount: 25_000 })
      const subscription = await billing.subscriptions.create({ customerId, plan: "pro" })
      await billing.testing.advance({ hours: 1 })
      const usage = [
        { productId: "api", unit: "call", quantity: 12_480 },
        { productId: "disk", unit: "GB", quantity: 85 },
      ]
      for (const one of usage)
        await billing.usage.record({ customerId, ...one, idempotencyKey: `${customerId}-${one.unit}` })
      return { customerId, subscriptionId: subscription.id }
    },
    close: async () => {
      await server.close()
      await billing.close()
    },
  }
}
