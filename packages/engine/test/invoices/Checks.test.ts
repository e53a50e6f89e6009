import { assert, describe, it } from "vitest"
import {
  creditNoteAmounts,
  type CreditNoteAmounts,
  type Invoice,
  problemsOfCreditNotes,
  problemsOfLines,
  problemsOfSums,
  type Step,
} from "../../src/index.ts"
import { after, issued, line, originOf, quoteOf, standard } from "./Documents.ts"

const lines = [line("a", 1_000n, { charge: "calls" }), line("b", 2_000n)]
const invoice = issued({
  lines,
  coupons: [{ id: "c", name: "C", allowance: { type: "fixed", amount: 300n } }],
  quote: quoteOf(lines, standard("20")),
  paid: [{ id: "grant", available: 240n }],
})

const [first, second] = invoice.lines
const [coupon] = invoice.discounts
const [tax] = invoice.taxes

const sums = (change: Partial<Invoice>) =>
  problemsOfSums({ ...invoice, ...change }).map(({ path, problem }) => `${path} ${problem}`)

describe("J1: problemsOfLines", () => {
  const texts = (change: Partial<Invoice>) =>
    problemsOfLines({ ...invoice, ...change }).map(({ path, problem }) => `${path} ${problem}`)

  it("compares each line with the fold of its steps", () => {
    assert.deepStrictEqual(texts({}), [])
    assert.deepStrictEqual(texts({ lines: [first!, { ...second!, amount: 2_001n }] }), [
      "lines[1].amount is 2001, but its steps give 2000",
    ])
    const receipt = {
      meter: "calls",
      where: {},
      periodStart: 0,
      periodEnd: 1,
      total: "5",
      recordCount: 1,
    }
    assert.deepStrictEqual(texts({ lines: [{ ...first!, quantity: "5", receipt }] }), [])
    assert.deepStrictEqual(texts({ lines: [{ ...first!, quantity: "6", receipt }] }), [
      "lines[0].quantity is 6, but its receipt has a total of 5",
    ])
    const steps = [{ type: "flat", amount: "10.001" } as const]
    assert.deepStrictEqual(texts({ lines: [{ ...first!, steps }] }), [
      "lines[0].steps are not consistent: The steps end with 10.001, which is not rounded to 2 digits.",
    ])
  })
})

describe("J1 of lines that burn credits", () => {
  const steps = [
    { type: "unit", quantity: "3", price: "1.5", amount: "4.5" },
    { type: "round", digits: 2, amount: "4.5" },
    { type: "burn", unit: "credits", credits: "4.5", amount: "0" },
  ] as const
  const found = (amount: bigint | null, of: ReadonlyArray<Step> = steps, decimals = 2) => {
    const burns = amount === null ? null : { unit: "credits", decimals, amount, gross: amount, of: null }
    const burning = line("a", 0n, { origin: { ...originOf("pro"), burns }, steps: of })
    return problemsOfLines({ currency: "EUR", lines: [{ ...first!, ...burning }] }).map(
      ({ path, problem }) => `${path} ${problem}`,
    )
  }

  it("compares the credits with their steps", () => {
    assert.deepStrictEqual(found(450n), [])
    assert.deepStrictEqual(found(449n), ["lines[0].burns is 449, but its steps give 450"])
    assert.deepStrictEqual(found(null), ["lines[0].burns is 0, but its steps give 450"])
    assert.deepStrictEqual(found(1n, [{ type: "flat", amount: "0" }]), [
      "lines[0].burns is 1, but its steps give 0",
    ])
    assert.deepStrictEqual(found(450n, steps, 3), ["lines[0].burns has 3 decimals, but its steps have 2"])
  })
})

describe("J2: problemsOfSums", () => {
  it("finds nothing wrong with an invoice as it was assembled", () => {
    assert.deepStrictEqual(sums({}), [])
  })

  it.each<[string, Partial<Invoice>, ReadonlyArray<string>]>([
    ["the subtotal", { subtotal: 1n }, ["subtotal is 1, but the sum of the lines is 3000"]],
    [
      "a discount",
      { discounts: [{ ...coupon!, amount: 1n }] },
      ["discounts[0].amount is 1, but the sum of its parts is 300"],
    ],
    [
      "the discounts of a line",
      { discounts: [] },
      [
        "lines[0].discount is 100, but the sum of its parts of discounts is 0",
        "lines[1].discount is 200, but the sum of its parts of discounts is 0",
      ],
    ],
    [
      "a discount of another line",
      { discounts: [coupon!, { ...coupon!, amount: 1n, parts: [{ lineId: "x", amount: 1n }] }] },
      ["discounts have a part for x, which is not a line"],
    ],
    [
      "the tax of a rate",
      { taxes: [{ ...tax!, amount: 541n }] },
      [
        `taxes["S 20 DE"].amount is 541, but the tax on its lines is 540`,
        "tax is 540, but the sum of the taxes is 541",
      ],
    ],
    [
      "the base of a rate",
      { taxes: [{ ...tax!, taxable: 1n }] },
      [`taxes["S 20 DE"].taxable is 1, but the sum of the net amounts of its lines is 2700`],
    ],
    [
      "a rate that is not there",
      { taxes: [] },
      [
        "taxes has no rate S 20 DE, which line a has",
        "taxes has no rate S 20 DE, which line b has",
        "tax is 540, but the sum of the taxes is 0",
      ],
    ],
    [
      "a rate twice",
      { taxes: [tax!, tax!] },
      ["taxes has a rate twice", "tax is 540, but the sum of the taxes is 1080"],
    ],
    [
      "the total",
      { total: 3_241n },
      [
        "total is 3241, but the sum of net amounts and tax is 3240",
        "total is 3241, but what its steps give is 3240",
        "steps is 3000, but what is due after credits is 3001",
        "amountDue is 3000, but what is left to pay is 3001",
      ],
    ],
    [
      "the steps",
      { steps: invoice.steps.slice(1) },
      ["steps are not consistent: Step 1 (coupon) states 2700, but it must be -300."],
    ],
    [
      "steps that are missing",
      { steps: [] },
      ["steps are not consistent: The steps need a total and an amount due."],
    ],
    ["the amount due", { amountDue: 1n }, ["amountDue is 1, but what is left to pay is 3000"]],
    [
      "what was credited",
      { credited: 1n },
      [
        "steps is 3000, but what is due after credits is 3001",
        "amountDue is 3000, but what is left to pay is 3001",
        "credited is 1, but what the total is below 0 is 0",
      ],
    ],
    ["a payment that is too large", { amountPaid: 3_001n, amountDue: -1n }, ["amountDue must be 0 or more"]],
    ["the status paid", { status: "paid" }, ["status is paid, but something is due"]],
    ["the status open", { amountPaid: 3_000n, amountDue: 0n }, ["status is open, but nothing is due"]],
    ["the status void", { status: "void" }, ["amountDue is 3000, but what is left to pay is 0"]],
  ])("finds %s", (_, change, expected) => {
    assert.deepStrictEqual(sums(change), [...expected])
  })
})

describe("problemsOfCreditNotes", () => {
  const note = creditNoteAmounts(invoice, [], { lines: "rest" })
  const credited = after(invoice, { action: "credit", total: note.total, waived: note.waived })
  const texts = (of: Invoice, ...notes: ReadonlyArray<CreditNoteAmounts>) =>
    problemsOfCreditNotes(of, notes).map(({ path, problem }) => `${path} ${problem}`)

  it("finds notes that are not their sums, and more than is left", () => {
    assert.deepStrictEqual(texts(credited, note), [])
    assert.deepStrictEqual(texts({ ...invoice, amountCredited: 1n }), [
      "notes.total is 1, but the sum of the notes is 0",
    ])
    assert.deepStrictEqual(texts(credited, { ...note, tax: 1n, waived: 0n, taxes: [] }), [
      "notes[0].total is 3240, but net amount and tax is 2701",
      "notes[0].total is 3240, but what is waived, refunded and credited is 240",
      "notes[0].tax is 1, but the sum of the taxes is 0",
      `notes["S 20 DE"] is 0, but the tax less that on what is left is 540`,
    ])
    assert.deepStrictEqual(texts({ ...credited, amountCredited: 6_480n }, note, note), [
      "notes.a are 1800 of a line of 900",
      "notes.b are 3600 of a line of 1800",
      "notes are 6480 of a total of 3240",
    ])
  })

  it("finds a tax that is not right for what is left, and a line of another invoice", () => {
    const [rate] = note.taxes
    const wrong = { ...note, tax: 539n, total: 3_239n, waived: 2_999n, taxes: [{ ...rate!, amount: 539n }] }
    assert.deepStrictEqual(texts({ ...credited, amountCredited: 3_239n }, wrong), [
      `notes["S 20 DE"] is 539, but the tax less that on what is left is 540`,
    ])
    const [line] = note.lines
    assert.include(
      texts(credited, { ...note, lines: [{ ...line!, amount: -1n }] }),
      "notes.a are -1 of a line of 900",
    )
    assert.deepStrictEqual(texts(credited, { ...note, lines: [...note.lines, { ...line!, lineId: "x" }] }), [
      "notes.x are of a line that the invoice does not have",
    ])
  })
})
