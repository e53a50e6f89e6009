import { assert, describe, it } from "vitest"
import {
  applyToInvoice,
  type CollectionState,
  foldInvoice,
  INVOICE_TRANSITIONS,
  type Invoice,
  type InvoiceAction,
  type InvoiceInput,
  type InvoiceStatus,
  issuedText,
  problemsOfSums,
  redraft,
  withActions,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { after, assembled, draft, finalize, inputs, issued, linesOf, quoteOf, standard } from "./Documents.ts"

const input = (amount = 10_000n) => {
  const lines = linesOf(amount)
  return { lines, quote: quoteOf(lines, standard("19")), paid: [{ id: "grant_1", available: 900n }] }
}

/** 119.00, of which 110.00 are due. */
const open = issued(input())

const invoices: Readonly<Record<InvoiceStatus, Invoice>> = {
  draft: draft(input()),
  open,
  paid: after(open, { action: "pay", amount: 11_000n }),
  void: after(open, { action: "void" }),
  uncollectible: after(open, { action: "mark_uncollectible" }),
}

const actions: Readonly<Record<InvoiceAction, InvoiceInput>> = {
  finalize,
  pay: { action: "pay", amount: 11_000n },
  credit: { action: "credit", total: 11_900n, waived: 11_000n },
  void: { action: "void" },
  mark_uncollectible: { action: "mark_uncollectible" },
}

/** Where each action leads, and its events. Actions that are not here are rejected. */
const table: ReadonlyArray<
  readonly [from: InvoiceStatus, action: InvoiceAction, to: InvoiceStatus, events: ReadonlyArray<string>]
> = [
  ["draft", "finalize", "open", ["invoice.finalized"]],
  ["open", "pay", "paid", ["invoice.paid"]],
  ["open", "credit", "paid", ["invoice.paid"]],
  ["open", "void", "void", ["invoice.voided"]],
  ["open", "mark_uncollectible", "uncollectible", ["invoice.marked_uncollectible"]],
  ["uncollectible", "pay", "paid", ["invoice.paid"]],
  ["uncollectible", "credit", "paid", ["invoice.paid"]],
  ["uncollectible", "void", "void", ["invoice.voided"]],
]

const pairs = Object.values(invoices).flatMap((invoice) =>
  Object.values(actions).map((one) => ({ invoice, input: one })),
)

describe("the states of an invoice", () => {
  it.each(table)("%s: %s leads to %s", (from, action, to, events) => {
    const change = applyToInvoice(invoices[from], actions[action])
    assert(change.type === "changed")
    assert.strictEqual(change.invoice.status, to)
    assert.deepStrictEqual(change.events, events)
    assert.strictEqual(change.invoice.sequence, invoices[from].sequence + Math.max(1, events.length))
    assert.include(invoices[from].availableActions, action)
  })

  it("allow nothing else", () => {
    for (const { input: one, invoice } of pairs) {
      const row = table.find(([from, action]) => from === invoice.status && action === one.action)
      const isCreditOfPaid = invoice.status === "paid" && one.action === "credit"
      if (row !== undefined || isCreditOfPaid) continue
      assert.strictEqual(applyToInvoice(invoice, one).type, "rejected")
      assert.notInclude(invoice.availableActions, one.action)
    }
    assert.lengthOf(INVOICE_TRANSITIONS, table.length + 1)
  })

  it("credit a paid invoice, which stays paid", () => {
    const change = applyToInvoice(invoices.paid, { action: "credit", total: 11_900n, waived: 0n })
    assert(change.type === "changed")
    assert.deepStrictEqual([change.invoice.status, change.events], ["paid", []])
    assert.deepStrictEqual(change.invoice.availableActions, [])
    assert.deepStrictEqual(applyToInvoice(change.invoice, { action: "credit", total: 1n, waived: 0n }), {
      type: "rejected",
      problem: "does not allow it: nothing of it is left to credit",
    })
  })

  it("offer the actions that they allow", () => {
    assert.deepStrictEqual(
      Object.entries(invoices).map(([status, { availableActions }]) => [status, availableActions]),
      [
        ["draft", ["finalize"]],
        ["open", ["pay", "credit", "void", "mark_uncollectible"]],
        ["paid", ["credit"]],
        ["void", []],
        ["uncollectible", ["pay", "credit", "void"]],
      ],
    )
  })

  it("stay when a part is paid or credited, and what is beyond the amount due is given back", () => {
    const part = applyToInvoice(open, { action: "pay", amount: 4_000n })
    assert(part.type === "changed")
    assert.deepStrictEqual([part.invoice.status, part.invoice.amountDue, part.events], ["open", 7_000n, []])
    const credited = applyToInvoice(part.invoice, { action: "credit", total: 1_190n, waived: 1_190n })
    assert(credited.type === "changed")
    assert.deepStrictEqual([credited.invoice.status, credited.invoice.amountDue], ["open", 5_810n])
    const rest = applyToInvoice(credited.invoice, { action: "pay", amount: 6_000n })
    assert(rest.type === "changed")
    assert.deepStrictEqual(
      [rest.invoice.status, rest.excess, rest.invoice.amountPaid],
      ["paid", 190n, 9_810n],
    )
  })

  it("release what was applied when they become void", () => {
    const change = applyToInvoice(open, { action: "void" })
    assert(change.type === "changed")
    assert.deepStrictEqual(change.released, [{ type: "paid_credit", id: "grant_1", amount: 900n }])
    assert.deepStrictEqual(
      [change.invoice.amountDue, change.invoice.number, change.invoice.collection],
      [0n, "2026-0001", "stopped"],
    )
  })

  it("do not become void once something was paid or credited", () => {
    const problem = (invoice: Invoice) => {
      assert.notInclude(invoice.availableActions, "void")
      const result = applyToInvoice(invoice, { action: "void" })
      return result.type === "rejected" ? result.problem : undefined
    }
    assert.strictEqual(
      problem(after(open, { action: "pay", amount: 1n })),
      "does not allow it: part of it is paid: issue a credit note",
    )
    assert.strictEqual(
      problem(after(open, { action: "credit", total: 1n, waived: 1n })),
      "does not allow it: it has a credit note: credit the rest of it",
    )
  })

  it.each<[CollectionState, boolean]>([
    ["idle", true],
    ["collecting", false],
    ["retrying", true],
    ["awaiting_method", true],
    ["awaiting_customer", false],
    ["processing", false],
    ["unresolved", false],
    ["exhausted", true],
    ["needs_attention", false],
    ["stopped", true],
  ])("become void while the collection is %s: %s", (collection, isAllowed) => {
    const invoice = withActions({ ...open, collection }, false)
    assert.strictEqual(invoice.availableActions.includes("void"), isAllowed)
    assert.strictEqual(applyToInvoice(invoice, { action: "void" }).type, isAllowed ? "changed" : "rejected")
  })

  it("become void while a payment needs attention that surely took nothing, and stay so until that changes", () => {
    const attended = withActions({ ...open, collection: "needs_attention" }, true)
    assert.include(attended.availableActions, "void")
    assert.strictEqual(withActions(attended).availableActions.includes("void"), true)
    assert.strictEqual(applyToInvoice(attended, { action: "void" }).type, "changed")
    const unknown = withActions({ ...attended, collection: "unresolved" }, true)
    assert.notInclude(unknown.availableActions, "void")
    const lost = withActions({ ...unknown, collection: "needs_attention" })
    assert.notInclude(lost.availableActions, "void")
    assert.strictEqual(applyToInvoice(lost, { action: "void" }).type, "rejected")
  })

  it("refuse amounts that don't fit", () => {
    const problem = (one: InvoiceInput) => {
      const result = applyToInvoice(open, one)
      return result.type === "rejected" ? result.problem : undefined
    }
    assert.strictEqual(problem({ action: "pay", amount: 0n }), "takes payments greater than 0")
    assert.strictEqual(
      problem({ action: "credit", total: 11_901n, waived: 11_000n }),
      "has 11900 left to credit",
    )
    assert.strictEqual(problem({ action: "credit", total: 0n, waived: 0n }), "has 11900 left to credit")
    assert.strictEqual(problem({ action: "credit", total: 100n, waived: 99n }), "has 100 to waive")
  })

  it("keep J2 and what was issued through any actions", () => {
    const moves = fc.array(
      fc.oneof(
        fc.bigInt({ min: 1n, max: 8_000n }).map((amount): InvoiceInput => ({ action: "pay", amount })),
        fc.bigInt({ min: 1n, max: 8_000n }).map((total) => ({ action: "credit", total }) as const),
        fc.constantFrom<InvoiceInput>({ action: "void" }, { action: "mark_uncollectible" }),
      ),
      { maxLength: 6 },
    )
    holds([inputs, moves], (given, list) => {
      let invoice = issued(given)
      const text = issuedText(invoice)
      for (const move of list) {
        const { amountDue, sequence } = invoice
        const one: InvoiceInput =
          move.action === "credit"
            ? { action: "credit", total: move.total, waived: move.total < amountDue ? move.total : amountDue }
            : move
        const change = applyToInvoice(invoice, one)
        if (change.type === "rejected") continue
        invoice = change.invoice
        assert.strictEqual(invoice.sequence, sequence + Math.max(1, change.events.length))
        assert.deepStrictEqual(problemsOfSums(invoice), [])
        assert.strictEqual(issuedText(invoice), text)
        if (one.action === "pay")
          assert.strictEqual(change.excess, one.amount - (amountDue - invoice.amountDue))
      }
    })
  })
})

describe("redraft", () => {
  it("follows usage while the invoice is a draft", () => {
    const next = redraft(invoices.draft, assembled(input(20_000n)))
    assert.deepStrictEqual([next.total, next.sequence, next.status], [23_800n, 2, "draft"])
    assert.strictEqual(foldInvoice(next.steps).total, 23_800n)
    assert.strictEqual(redraft(open, assembled(input(20_000n))), open)
  })
})

describe("issuedText", () => {
  it("is canonical JSON with amounts as texts, and differs when anything that was issued differs", () => {
    const text = issuedText(open)
    assert.include(text, `"total":"11900"`)
    assert.notInclude(text, "amountPaid")
    const changes: ReadonlyArray<Partial<Invoice>> = [
      { number: "2026-0002" },
      { issuedAt: 1 },
      { dueAt: 1 },
      { total: 1n },
      { customerId: "cus_2" },
      { lines: open.lines.map((line) => ({ ...line, description: "x" })) },
    ]
    const texts = new Set([text, ...changes.map((change) => issuedText({ ...open, ...change }))])
    assert.strictEqual(texts.size, changes.length + 1)
    const { lines, id, ...rest } = open
    assert.strictEqual(issuedText({ lines, ...rest, id }), text)
  })
})
