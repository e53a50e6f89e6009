/**
 * Billing for the tests of your app: the clock moves only when you move it, and webhooks go to receivers in the
 * same process.
 */
import type { EventDefinition } from "./events/EventDefinition.ts"
import type { EventsOf } from "./events/EventMap.ts"
import { memory } from "./memory.ts"
import * as BillingOptionRules from "./runtime/BillingOptionRules.ts"
import { partsOf } from "./runtime/StoreParts.ts"
import type { FakePayments, FakePaymentsOptions } from "./testing/FakePayments.ts"
import { connecting, makeFakePayments } from "./testing/MakeFakePayments.ts"
import { startTest } from "./testing/StartTest.ts"
import type { TestBilling, TestBillingOptions } from "./testing/TestBilling.ts"

export type * from "./testing/FakePayments.ts"
export type { TestBilling, TestBillingOptions } from "./testing/TestBilling.ts"
export type { TestDuration, TestEndpoint, Testing } from "./testing/Testing.ts"
export type { ReceivedWebhook, TestAnswer, TestReceiver } from "./testing/TestReceiver.ts"

/**
 * Starts billing for a test. It works like `createBilling`, except for the clock and the network. By default it is
 * in test mode, stores in memory and logs nothing.
 *
 * ```ts
 * const billing = await createTestBilling()
 * const { receiver } = await billing.testing.endpoint({ eventTypes: ["invoice.paid"] })
 * receiver.answer(500, 204)
 * await myApp(billing).payInvoice("in_1")
 * await billing.testing.advance({ minutes: 1 })
 * const [delivery] = await billing.testing.deliveries() // Delivered, by the second attempt
 * ```
 */
export const createTestBilling = async <const Definitions extends ReadonlyArray<EventDefinition> = []>(
  options: TestBillingOptions<Definitions> = {},
): Promise<TestBilling<EventsOf<Definitions>>> => {
  BillingOptionRules.checkOfTest(options)
  const { store = memory() } = options
  const connect = connecting(options.payments)
  const start = partsOf(store)?.starter?.testBilling ?? startTest
  const started: object = await start({ ...options, store })
  const billing = started as TestBilling<EventsOf<Definitions>>
  connect({ billing, mode: billing.mode, now: () => billing.testing.now })
  return billing
}

/**
 * A payment provider in memory, for the option `payments` of one test billing. Payments succeed, unless a lever says
 * something else.
 *
 * ```ts
 * const payments = fakePayments()
 * const billing = await createTestBilling({ payments })
 * await payments.saveCard(customer.id)
 * payments.next({ code: "insufficient_funds" }, "requires_action")
 * await billing.testing.advance({ days: 2 }) // declined, then waits for the customer
 * await payments.confirm(invoice.id) // paid
 * ```
 */
export const fakePayments = (options: FakePaymentsOptions = {}): FakePayments => makeFakePayments(options)
