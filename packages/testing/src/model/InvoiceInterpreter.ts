/**
 * Runs commands about invoices on a storage and on the reference, and compares their answers.
 */
import { type Invoice, InvoiceStore, type Subscription, type Tenant, Transactor } from "@billwright/core"
import { Effect, Exit, Option, Struct } from "effect"
import { asTenant, same } from "../contract/ContractTest.ts"
import { draftOf, lineOf, seriesOf } from "../contract/InvoicingProbe.ts"
import type { InvoicingVerb } from "./InvoicingCommand.ts"
import {
  dueAtOf,
  type InvoicingServices,
  type InvoicingWorld,
  isOf,
  nth,
  ofOwner,
  pageFrom,
} from "./InvoicingWorld.ts"
import type { ReferenceInvoicing } from "./ReferenceInvoicing.ts"

type CommandOf<Name extends InvoicingVerb["command"]> = Extract<InvoicingVerb, { readonly command: Name }>

/** What a coupon takes off the first line of a draft, and what a line gives back of another invoice. */
const DISCOUNT = 100n
const GIVEN_BACK = 500n

/** A draft with so many equal lines, and with a coupon, or a credit of an issued invoice of its subscription. */
const withLines = (
  draft: Invoice.StoredInvoice,
  count: number,
  extra: "nothing" | "coupon" | "credit",
  credited: Invoice.StoredInvoice | undefined,
): Invoice.StoredInvoice["state"] => {
  const { causes, state } = draft
  const { effect, subscriptionId } = causes[0]!
  const lines = Array.from({ length: count }, (_, index) =>
    lineOf(subscriptionId, effect.period.number, `${index}`),
  )
  const [first, ...others] = lines as [(typeof lines)[number], ...typeof lines]
  const isOff = extra === "coupon"
  const base = isOff ? [{ ...first, discount: DISCOUNT, net: first.net - DISCOUNT }, ...others] : lines
  const of = extra === "credit" ? credited?.state.lines[0] : undefined
  const creditOf = of === undefined ? null : { invoiceId: credited!.id, lineId: of.id }
  const back = {
    ...first,
    id: "back",
    kind: "credit" as const,
    amount: -GIVEN_BACK,
    net: -GIVEN_BACK,
    creditOf,
  }
  const all = creditOf === null ? base : [...base, back]
  const coupon = {
    type: "coupon" as const,
    id: `red_${count}`,
    name: null,
    percent: null,
    base: first.amount,
    amount: DISCOUNT,
    parts: [{ lineId: first.id, amount: DISCOUNT }],
  }
  const sumOf = (amounts: ReadonlyArray<bigint>) => amounts.reduce((sum, amount) => sum + amount, 0n)
  const total = sumOf(all.map(({ net }) => net))
  return {
    ...state,
    lines: all,
    discounts: isOff ? [coupon] : [],
    subtotal: sumOf(all.map(({ amount }) => amount)),
    total,
    amountDue: total,
    taxes: [{ ...state.taxes[0]!, taxable: total }],
    sequence: state.sequence + 1,
  }
}

/** Issues a draft with the next number, in one transaction. */
const finalize = Effect.fnUntraced(function* (
  reference: ReferenceInvoicing,
  tenant: Tenant.Tenant,
  id: string,
) {
  const store = yield* InvoiceStore
  const found = yield* store.lock(id as Invoice.InvoiceId)
  if (Option.isNone(found) || found.value.state.status !== "draft") return
  const known = yield* store.lockSeries("invoice")
  same(Option.getOrUndefined(known), reference.series(tenant, "invoice"))
  const series = seriesOf("", (reference.series(tenant, "invoice")?.last ?? 0) + 1)
  const { state } = found.value
  const value: Invoice.StoredInvoice = {
    ...found.value,
    dueAt: null,
    state: {
      ...state,
      status: "open",
      number: `2026-${String(series.last).padStart(4, "0")}`,
      issuedAt: series.lastIssuedAt,
      dueAt: series.lastIssuedAt,
      availableActions: ["pay"],
      sequence: state.sequence + 1,
    },
  }
  reference.saveInvoice(tenant, value)
  reference.saveSeries(tenant, "invoice", series)
  yield* store.saveSeries("invoice", series)
  yield* store.save(value)
})

export const invoiceVerb = Effect.fnUntraced(function* (
  { invoices, reference, subscriptions, tenants }: InvoicingWorld,
  command: CommandOf<
    | "draft"
    | "redraft"
    | "finalize"
    | "void"
    | "findInvoice"
    | "listInvoices"
    | "billedLines"
    | "lockDrafts"
    | "lockSeries"
  >,
): Effect.fn.Return<unknown, unknown, InvoicingServices> {
  const store = yield* InvoiceStore
  const transactor = yield* Transactor
  switch (command.command) {
    case "draft":
      return yield* ofOwner(nth(subscriptions, command.subscription), (id, tenant) =>
        Effect.gen(function* () {
          const subscription = reference.subscription(tenant, id)
          if (subscription === undefined) return
          const draft = yield* draftOf(subscription, command.period, { dueAt: dueAtOf(command.due) })
          // An error of a storage may spoil the transaction that it is in, up to its last savepoint.
          const isStored = Exit.isSuccess(yield* Effect.exit(transactor.atomically(store.insert(draft))))
          if (isStored) invoices.push({ tenant, id: draft.id })
          same(isStored, reference.insertInvoice(tenant, draft))
        }),
      )
    case "redraft":
      return yield* ofOwner(nth(invoices, command.invoice), (id, tenant) =>
        Effect.gen(function* () {
          const found = Option.getOrUndefined(yield* store.lock(id as Invoice.InvoiceId))
          if (found?.state.status !== "draft") return
          const { causes } = found
          const credited = reference
            .invoicesOf(tenant, causes[0]!.subscriptionId)
            .find(({ state }) => state.status === "open")
          const state = withLines(found, command.lines, command.extra, credited)
          const value = { ...found, dueAt: dueAtOf(command.due), state }
          reference.saveInvoice(tenant, value)
          yield* store.save(value)
        }),
      )
    case "finalize":
      return yield* ofOwner(nth(invoices, command.invoice), (id, tenant) =>
        transactor.atomically(finalize(reference, tenant, id)),
      )
    case "void":
      return yield* ofOwner(nth(invoices, command.invoice), (id, tenant) =>
        Effect.gen(function* () {
          const found = Option.getOrUndefined(yield* store.lock(id as Invoice.InvoiceId))
          if (found?.state.status !== "open" || found.state.amountCredited > 0n) return
          const state = { ...found.state, status: "void" as const, amountDue: 0n }
          reference.saveInvoice(tenant, { ...found, state })
          yield* store.save({ ...found, state })
        }),
      )
    case "findInvoice": {
      const { tenant } = tenants[command.tenant]!
      const id = nth(invoices, command.invoice)?.id as Invoice.InvoiceId
      if (id === undefined) return
      const found = yield* asTenant(tenant)(store.find(id))
      return same(Option.getOrUndefined(found), reference.invoice(tenant, id))
    }
    case "listInvoices": {
      const { tenant } = tenants[command.tenant]!
      const own = invoices.filter((one) => isOf(tenant, one, reference))
      const after = command.after === null ? undefined : nth(own, command.after)
      const status = command.status ?? undefined
      const subscriptionId =
        command.subscription === null
          ? undefined
          : (nth(subscriptions, command.subscription)?.id as Subscription.StoredSubscription["id"])
      const filter = { status, subscriptionId }
      const page = yield* asTenant(tenant)(store.list(filter, pageFrom(command.limit, after)))
      const expected = reference.listInvoices(
        tenant,
        (one) =>
          (status === undefined || one.state.status === status) &&
          (subscriptionId === undefined || one.subscriptionId === subscriptionId),
        { limit: command.limit, after: after?.id },
      )
      return same(page, expected)
    }
    case "billedLines": {
      const { tenant } = tenants[command.tenant]!
      const id = nth(subscriptions, command.subscription)?.id as Subscription.StoredSubscription["id"]
      if (id === undefined) return
      const found = yield* asTenant(tenant)(store.billedLines(id, command.from))
      const expected = reference.invoicesOf(tenant, id).flatMap((invoice) =>
        invoice.state.lines
          .filter(({ origin }) => origin !== null && origin.period >= command.from)
          .map((line) => ({
            invoiceId: invoice.id,
            status: invoice.state.status,
            line: Struct.omit(line, ["steps", "receipt"]),
            forgiven: reference.forgivenOf(tenant, invoice.id, line.id),
          })),
      )
      return same(found, expected)
    }
    case "lockDrafts": {
      const { tenant } = tenants[command.tenant]!
      const id = nth(subscriptions, command.subscription)?.id as Subscription.StoredSubscription["id"]
      if (id === undefined) return
      const found = yield* asTenant(tenant)(transactor.atomically(store.lockDrafts([id])))
      return same(
        found,
        reference.invoicesOf(tenant, id).filter(({ state }) => state.status === "draft"),
      )
    }
    case "lockSeries": {
      const { tenant } = tenants[command.tenant]!
      const found = yield* asTenant(tenant)(transactor.atomically(store.lockSeries("invoice")))
      return same(Option.getOrUndefined(found), reference.series(tenant, "invoice"))
    }
  }
})
