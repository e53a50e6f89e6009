/**
 * Bugs in the storage of invoices of several subscriptions, and of none.
 */
import {
  type Collection,
  Collections,
  EventStore,
  type InvoiceItem,
  InvoiceStore,
  SubscriptionStore,
} from "@billwright/core"
import { Effect } from "effect"
import { type BillingMutation, bug } from "./BillingMutation.ts"
import { change } from "./Mutation.ts"

export const shared: ReadonlyArray<BillingMutation> = [
  bug(
    "every subscription is alone in its group",
    ["groups"],
    change(SubscriptionStore, ({ lockGroup }) => ({
      lockGroup: (id) => Effect.map(lockGroup(id), (all) => all.filter((one) => one.id === id)),
    })),
  ),
  bug(
    "an invoice of several subscriptions is stored with the first one alone",
    ["groups", "J3", "J11"],
    change(InvoiceStore, ({ insert }) => ({
      insert: (invoice) => insert({ ...invoice, causes: invoice.causes.slice(0, 1) }),
    })),
  ),
  bug(
    "an invoice of several subscriptions names one",
    ["groups"],
    change(InvoiceStore, ({ insert }) => ({
      insert: (invoice) =>
        insert({ ...invoice, subscriptionId: invoice.causes[0]?.subscriptionId ?? invoice.subscriptionId }),
    })),
  ),
  bug(
    "a draft that is deleted stays",
    ["J11"],
    change(InvoiceStore, () => ({ remove: () => Effect.void })),
  ),
  bug(
    "the events of deleted invoices are not stored",
    ["J11"],
    change(EventStore, ({ publish }) => ({
      publish: (event) =>
        event.type === "invoice.deleted" ? Effect.succeed({ _tag: "Published", event }) : publish(event),
    })),
  ),
  bug(
    "the items of a deleted draft stay on it",
    ["items"],
    change(Collections, ({ of }) => ({
      of: (resource) => {
        const values = of(resource)
        if (resource.type !== "InvoiceItem") return values
        const items = values as object as Collection<InvoiceItem.InvoiceItem>
        const kept: Partial<Collection<InvoiceItem.InvoiceItem>> = {
          modify: (id, by) =>
            items.modify(id, (item) =>
              Effect.map(by(item), (after) => ({ ...after, invoiceId: after.invoiceId ?? item.invoiceId })),
            ),
        }
        return { ...values, ...(kept as object) }
      },
    })),
  ),
]
