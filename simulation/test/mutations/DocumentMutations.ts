/**
 * Bugs in the storage of what invoices have besides plans and usage: coupons, items, taxes, credit notes. And of test
 * clocks and migrations of plans.
 */
import {
  type Coupon,
  CreditNoteStore,
  DueStore,
  EventStore,
  type InvoiceItem,
  InvoiceStore,
  type Redemption,
  CurrentTenant,
  Tenant,
  type TestClock,
} from "@billwright/core"
import { DateTime, Effect, Struct } from "effect"
import { type BillingMutation, bug } from "./BillingMutation.ts"
import { change, changeValues, storing } from "./Mutation.ts"

const shared = Effect.provideService(CurrentTenant, {
  accountId: Tenant.AccountId.make("shared"),
  mode: "test",
})

export const documents: ReadonlyArray<BillingMutation> = [
  bug(
    "earlier credit notes of an invoice are not found",
    ["J2"],
    change(CreditNoteStore, () => ({ ofInvoice: () => Effect.succeed([]) })),
  ),
  bug(
    "what credit notes gave back of a line is not known when it is given back again",
    ["J2"],
    change(InvoiceStore, ({ billedLines }) => ({
      billedLines: (id, from) =>
        Effect.map(billedLines(id, from), (all) => all.map((one) => ({ ...one, forgiven: 0n }))),
    })),
  ),
  bug(
    "all tenants take the numbers of credit notes from one series",
    ["J4"],
    change(InvoiceStore, ({ lockSeries, saveSeries }) => ({
      lockSeries: (name) => (name === "credit_note" ? shared(lockSeries(name)) : lockSeries(name)),
      saveSeries: (name, series) =>
        name === "credit_note" ? shared(saveSeries(name, series)) : saveSeries(name, series),
    })),
  ),
  bug(
    "the events of credit notes are not stored",
    ["J10"],
    change(EventStore, ({ publish }) => ({
      publish: (event) =>
        event.type === "credit_note.created" ? Effect.succeed({ _tag: "Published", event }) : publish(event),
    })),
  ),
  bug(
    "coupons of any subscription are found",
    ["J11"],
    changeValues<Redemption.Redemption>("Redemption", ({ list }) => ({
      list: (filter, page) => list(Struct.omit(filter, ["subscriptionId"]), page),
    })),
  ),
  bug(
    "a coupon does not count its redemptions",
    ["coupons"],
    storing<Coupon.Coupon>("Coupon", (coupon) => ({ ...coupon, timesRedeemed: 0 })),
  ),
  bug(
    "what coupons took off before is not known",
    ["coupons"],
    change(InvoiceStore, () => ({ couponUses: () => Effect.succeed([]) })),
  ),
  bug(
    "a coupon goes on after it was taken off its subscription",
    ["coupons"],
    changeValues<Redemption.Redemption>("Redemption", ({ list }) => ({
      list: (filter, page) =>
        Effect.map(list(filter, page), ({ data, hasMore }) => ({
          hasMore,
          data: data.map((one) => ({ ...one, endedAt: null })),
        })),
    })),
  ),
  bug(
    "the items of a draft are not found when it is issued",
    ["items"],
    changeValues<InvoiceItem.InvoiceItem>("InvoiceItem", ({ list }) => ({
      list: (filter, page) =>
        filter.invoiceId === undefined ? list(filter, page) : Effect.succeed({ data: [], hasMore: false }),
    })),
  ),
  bug(
    "what a credit has left is not stored",
    ["items"],
    changeValues<InvoiceItem.InvoiceItem>("InvoiceItem", ({ insert }) => {
      const known = new Set<string>()
      return {
        insert: (item) => {
          const isRest = known.has(item.description)
          known.add(item.description)
          return isRest ? Effect.succeed(true) : insert(item)
        },
      }
    }),
  ),
  bug(
    "a credit is taxed by another rate than what it gives back",
    ["taxes"],
    change(InvoiceStore, ({ billedLines }) => ({
      billedLines: (id, from) =>
        Effect.map(billedLines(id, from), (all) =>
          all.map((one) => ({
            ...one,
            line: { ...one.line, tax: { category: "S", rate: "1", country: "DE", reason: null } },
          })),
        ),
    })),
  ),
  bug(
    "a test clock that has arrived is behind what was done on its way",
    ["clocks"],
    storing<TestClock.TestClock>("TestClock", (clock) =>
      clock.status === "ready" ? { ...clock, now: DateTime.subtract(clock.now, { days: 40 }) } : clock,
    ),
  ),
  bug(
    "nothing is due on a test clock",
    ["J8"],
    change(DueStore, () => ({ firstDue: () => Effect.succeedNone })),
  ),
  bug(
    "a migration of plans is not put in the queue",
    ["migrations"],
    change(DueStore, () => ({ schedule: () => Effect.void })),
  ),
]
