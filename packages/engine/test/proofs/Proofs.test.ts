import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import {
  canonicalJson,
  type Charge,
  creditRater,
  Exact,
  FIRST_PREVIOUS,
  type LineInput,
  plansOfInvoice,
  type Proof,
  proofOf,
  type ProofPlace,
  proofText,
  rate,
  stepsOfAmount,
} from "../../src/index.ts"
import { checkProof } from "../../src/proofs/CheckProof.ts"
import { verifyProofs } from "../../src/proofs/index.ts"
import { linkOf, problemsOfChain } from "../../src/proofs/ProofChain.ts"
import { ProofError, readProof } from "../../src/proofs/ReadProof.ts"
import {
  after,
  draft,
  inputs,
  issued,
  line,
  linesOf,
  originOf,
  quoteOf,
  standard,
} from "../invoices/Documents.ts"
import { fc, holds } from "../property.ts"
import { charges } from "../rating/Charges.ts"
import { CURRENCY } from "../rating/Oracle.ts"
import { Book } from "../subscriptions/Book.ts"
import { DAY, START } from "../subscriptions/Scripts.ts"
import { changeTo, creation, done, plan } from "../subscriptions/Subscriptions.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const place = (position: number, previous: string): ProofPlace => ({
  accountId: "acme",
  mode: "live",
  position,
  previous,
  format: "{year}-{number:4}",
})

const NO_TAX_SERVICE = {
  customer: { country: "DE", taxId: null, taxStatus: "taxable" },
  asked: null,
  quote: null,
} as const

const planOf = (charge: Charge) => {
  const terms = { currencies: [CURRENCY], interval: { unit: "month", count: 1 }, charges: [charge] } as const
  return { key: "pro", version: 1, hash: sha256(canonicalJson(terms)), terms }
}

/** A line of usage that a charge prices. */
const usage = (charge: Charge, quantity: string, billedBefore?: bigint): LineInput => {
  const rated = rate(charge, quantity, {
    currency: CURRENCY,
    ...(billedBefore === undefined ? {} : { billedBefore }),
  })
  return line("a", rated.amount, {
    kind: "usage",
    origin: originOf("pro", rated.amount),
    charge: charge.key,
    quantity,
    steps: rated.steps,
  })
}

/** The same charge with its prices in credits. */
const burning = (charge: Charge): Charge => {
  const usage = { ...charge, timing: undefined, quantity: undefined, meter: "calls", burns: "credits" }
  return JSON.parse(JSON.stringify(usage).replaceAll(`"${CURRENCY}":`, '"credits":')) as Charge
}

/** A line of usage that burns credits of so many decimals. */
const burnt = (charge: Charge, quantity: string, decimals: number): LineInput => {
  const { amount, steps } = creditRater(charge, decimals).rate(quantity)
  const credits = Exact.text(Exact.ofUnits(amount, decimals))
  return line("a", 0n, {
    kind: "usage",
    origin: { ...originOf("pro"), burns: { unit: "credits", decimals, amount, gross: amount, of: null } },
    charge: charge.key,
    quantity,
    steps: [...steps, { type: "burn", unit: "credits", credits, amount: "0" }],
  })
}

const CALLS: Charge = {
  key: "calls",
  model: "graduated",
  meter: "calls",
  free: "100",
  tiers: [{ up_to: "1000", price: { EUR: "0.10" } }, { price: { EUR: "0.05" } }],
  maximum: { EUR: "500" },
}

const invoiceOf = (
  lines: ReadonlyArray<LineInput>,
  number = "2026-0001",
  issuedAt = Date.UTC(2026, 10, 22),
) =>
  after(draft({ lines, quote: quoteOf(lines, standard("19")) }), {
    action: "finalize",
    number,
    issuedAt,
    dueAt: issuedAt + 1,
  })

const proved = (lines: ReadonlyArray<LineInput>, charge: Charge = CALLS): Proof =>
  proofOf(place(1, FIRST_PREVIOUS), invoiceOf(lines), { plans: [planOf(charge)], tax: NO_TAX_SERVICE })

const parse = (text: string): unknown => JSON.parse(text)

describe("a proof", () => {
  it("is read as it was written, and finds nothing wrong with invoices that were assembled", () => {
    holds([inputs], (input) => {
      const lines = input.lines.map((one) => ({ ...one, origin: null, charge: null, quantity: null }))
      const proof = proofOf(place(1, FIRST_PREVIOUS), issued({ ...input, lines, coupons: [] }), {
        plans: [],
        tax: NO_TAX_SERVICE,
      })
      const text = proofText(proof)
      const read = readProof(parse(text))
      assert.strictEqual(proofText(read), text)
      assert.deepStrictEqual(checkProof(read), { problems: [], rated: 0, unrated: lines.length })
    })
  })

  it("does not change by payments, or by fields that invoices get later", () => {
    const invoice = invoiceOf(linesOf(10_000n))
    const rest = { plans: [], tax: NO_TAX_SERVICE }
    const text = proofText(proofOf(place(1, FIRST_PREVIOUS), invoice, rest))
    const paid = { ...after(invoice, { action: "pay", amount: 11_900n }), colour: "red" }
    assert.strictEqual(proofText(proofOf(place(1, FIRST_PREVIOUS), paid, rest)), text)
  })

  it("is not of a draft", () => {
    const lines = linesOf(100n)
    const unissued = draft({ lines, quote: quoteOf(lines, standard("19")) })
    assert.throws(
      () => proofOf(place(1, FIRST_PREVIOUS), unissued, { plans: [], tax: NO_TAX_SERVICE }),
      TypeError,
    )
  })

  it("names each plan version that its lines bill once, in order", () => {
    const version = (id: string, key: string, number: number) =>
      line(id, 1n, { origin: { ...originOf(key), plan: { key, version: number } } })
    const lines = [
      version("a", "pro", 10),
      version("b", "pro", 9),
      version("c", "base", 1),
      version("d", "pro", 10),
    ]
    assert.deepStrictEqual(plansOfInvoice(invoiceOf(lines)), [
      { key: "base", version: 1 },
      { key: "pro", version: 9 },
      { key: "pro", version: 10 },
    ])
  })

  it("names the field that is not as it must be", () => {
    const text = proofText(proved([usage(CALLS, "5000")]))
    const wrong: ReadonlyArray<readonly [string, string, RegExp]> = [
      ['"total":"', '"total":"x', /invoice\.total must be an integer/],
      ['"previous":"0', '"previous":"Z', /previous must be a SHA-256/],
      ['"position":1', '"position":0', /position must be 1 or more/],
      ['"issuedAt":', '"issuedAt":1.5,"was":', /invoice\.issuedAt must be an integer/],
    ]
    for (const [from, to, message] of wrong) {
      assert.include(text, from)
      assert.throws(() => readProof(parse(text.replace(from, to))), ProofError, message)
    }
    assert.throws(() => readProof({ version: 2 }), ProofError, /version must be 1/)
    assert.throws(() => readProof([]), ProofError, /document must be an object/)
  })
})

describe("rating again", () => {
  it("finds nothing wrong with what charges of every model cost", () => {
    holds([charges, fc.integer({ min: 0, max: 100_000 })], (charge, quantity) => {
      const proof = proved([usage(charge, String(quantity))], charge)
      const { problems } = checkProof(readProof(parse(proofText(proof))))
      assert.deepStrictEqual(problems, [])
    })
  })

  it("finds nothing wrong with usage that burns credits of any decimals, and reads its amounts back", () => {
    const usages = charges.filter(({ model }) => model !== "flat" && !model.includes("percentage"))
    holds(
      [usages, fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 6 })],
      (charge, quantity, decimals) => {
        const burns = burning(charge)
        const proof = proved([burnt(burns, String(quantity), decimals)], burns)
        const read = readProof(parse(proofText(proof)))
        assert.deepStrictEqual(read.invoice.lines, proof.invoice.lines)
        assert.deepStrictEqual(checkProof(read), { problems: [], rated: 1, unrated: 0 })
      },
    )
  })

  it("finds credits that are not the plan's, or not what the steps give", () => {
    const burns = burning(CALLS)
    const right = burnt(burns, "600", 2)
    const { amount, decimals, gross, of, unit } = right.origin!.burns!
    const withBurns = (other: object): LineInput => ({
      ...right,
      origin: { ...right.origin!, burns: { amount, decimals: decimals!, gross, of, unit, ...other } },
    })
    const found = (lines: ReadonlyArray<LineInput>, charge = burns) =>
      checkProof(proved(lines, charge)).problems.map(({ path, problem }) => `${path} ${problem}`)
    assert.deepStrictEqual(found([right]), [])
    assert.deepStrictEqual(found([withBurns({ amount: 4_999n })]), [
      "invoice.lines[0].burns is 4999, but its steps give 5000",
    ])
    assert.deepStrictEqual(found([withBurns({ unit: "tokens" })]), [
      "invoice.lines[0].burns is of tokens, but the plan says credits",
    ])
    assert.deepStrictEqual(found([withBurns({ decimals: 3 })]), [
      "invoice.lines[0].burns has 3 decimals, but its steps have 2",
    ])
    assert.include(found([withBurns({ decimals: 7 })]).join(), "decimals must be an integer from 0 to 6")
    assert.include(found([right], CALLS).join(), "lines[0].burns is of credits, but the plan says none")
    const cheaper: Charge = { ...burns, free: "200" }
    assert.match(found([burnt(cheaper, "600", 2)]).join(), /steps price it by .* but the plan says/)
    const capped: Charge = { ...burns, maximum: { credits: "20" } }
    assert.match(found([burnt(capped, "600", 2)]).join(), /use a maximum of 20, but the plan has 500/)
    const text = proofText(proved([right], burns))
    assert.throws(
      () => readProof(parse(text.replace('"amount":"5000"', '"amount":"5000.5"'))),
      ProofError,
      /invoice\.lines\[0\]\.origin\.burns\.amount must be an integer/,
    )
  })

  it("finds nothing wrong with the lines of periods that changes of the plan cut", () => {
    const lists = fc.array(charges, { minLength: 1, maxLength: 3 }).map((list) =>
      list.map((charge, index): Charge => {
        const { by: _, where: __, ...named } = { ...charge, key: `charge_${String(index)}` }
        if (charge.model === "flat" || charge.quantity !== undefined) return named as Charge
        const { timing: ___, ...metered } = named
        return { ...metered, meter: "calls" } as Charge
      }),
    )
    const uses = fc.array(
      fc.record({
        at: fc.integer({ min: START, max: START + 30 * DAY }),
        quantity: fc.integer({ min: 0, max: 300 }),
      }),
      { maxLength: 10 },
    )
    const cuts = fc.array(fc.integer({ min: START + 1, max: START + 30 * DAY }), { maxLength: 2 })
    const measures = fc.constantFrom("day" as const, "time" as const, "none" as const)
    let rated = 0
    holds(
      [fc.array(lists, { minLength: 3, maxLength: 3 }), uses, cuts, measures],
      (ofPlans, usage, at, proration) => {
        const plans = ofPlans.map((list, index) =>
          plan(`plan_${String(index)}`, { charges: list, policy: { proration } }),
        )
        const quantities = { seats: "2" }
        const hasQuantity = (list: ReadonlyArray<Charge>) =>
          list.some(({ quantity }) => quantity !== undefined)
        const asked = (index: number) => ({
          plan: plans[index]!,
          quantities: hasQuantity(ofPlans[index]!) ? quantities : {},
        })
        const book = new Book({ plans, usage })
        let { effects, subscription } = done(null, { ...creation, ...asked(0) }, START)
        book.apply(effects)
        for (const [index, instant] of at.toSorted((a, b) => a - b).entries()) {
          const change = changeTo(asked(index + 1).plan)
          ;({ effects, subscription } = done(
            subscription,
            { ...change, quantities: asked(index + 1).quantities },
            instant,
          ))
          book.apply(effects)
        }
        book.apply(done(subscription, { type: "cancel", at: "period_end" }, START + 31 * DAY - 1).effects)
        book.invoice(START + 31 * DAY)
        if (book.lines.length === 0) return
        const lines = book.lines.map((one): LineInput => {
          const { amount, charge, description, gross, group, kind, periodEnd, periodStart, quantity, steps } =
            one
          const origin = { ...originOf(one.plan.key, gross), plan: one.plan, segment: one.segment, group }
          return line(one.line, amount, {
            kind,
            origin,
            charge,
            description,
            periodStart,
            periodEnd,
            quantity,
            steps,
          })
        })
        const proof = proofOf(place(1, FIRST_PREVIOUS), invoiceOf(lines), {
          plans: plans.map(({ key, terms, version }) => ({
            key,
            version,
            hash: sha256(canonicalJson(terms)),
            terms,
          })),
          tax: NO_TAX_SERVICE,
        })
        const checked = checkProof(readProof(parse(proofText(proof))))
        assert.deepStrictEqual(checked.problems, [])
        rated += checked.rated
      },
    )
    assert.isAbove(rated, 50)
  })

  it("finds a price that is not the plan's, although all sums are right", () => {
    const cheaper: Charge = {
      ...CALLS,
      tiers: [{ up_to: "1000", price: { EUR: "0.11" } }, { price: { EUR: "0.05" } }],
    }
    const { problems } = checkProof(proved([usage(cheaper, "600")]))
    assert.deepStrictEqual(
      problems.map(({ path }) => path),
      ["invoice.lines[0].steps"],
    )
    assert.match(problems[0]!.problem, /0\.11.*but the plan says.*0\.10/)
  })

  it("finds a quantity, free units and a maximum that are not the plan's", () => {
    const others: ReadonlyArray<Charge> = [
      { ...CALLS, free: "0" },
      { ...CALLS, maximum: { EUR: "400" } },
    ]
    for (const other of others) {
      assert.lengthOf(checkProof(proved([usage(other, "50000")])).problems, 1)
    }
    const more = { ...usage(CALLS, "600"), quantity: "500" }
    assert.lengthOf(checkProof(proved([more])).problems, 1)
  })

  it("takes an invoice as it is of whose lines nothing was left when its draft was computed again", () => {
    const emptied = { ...usage(CALLS, "0"), amount: 0n, quantity: null, steps: stepsOfAmount(0n, 2) }
    const item = line("b", 500n)
    assert.deepStrictEqual(checkProof(proved([emptied, item])), { problems: [], rated: 0, unrated: 2 })
    const others: ReadonlyArray<ReadonlyArray<LineInput>> = [
      [{ ...emptied, quantity: "600" }],
      [{ ...emptied, steps: [{ type: "unit", quantity: "0", price: "0.10", amount: "0" }] }],
      // Only one line is empty: its price was changed.
      [emptied, { ...usage(CALLS, "600"), id: "b" }],
    ]
    for (const lines of others) assert.lengthOf(checkProof(proved(lines)).problems, 1)
  })

  it("takes what was billed before off, as the line says", () => {
    assert.deepStrictEqual(checkProof(proved([usage(CALLS, "600", 1_000n)])), {
      problems: [],
      rated: 1,
      unrated: 0,
    })
  })

  it("finds a charge that the terms don't have", () => {
    const { problems } = checkProof(proved([{ ...usage(CALLS, "600"), charge: "storage" }]))
    assert.deepStrictEqual(problems, [
      { path: "invoice.lines[0].charge", problem: "is storage, which the proof has no terms of" },
    ])
  })

  it("finds an amount that is not what the steps give, and a total that is not the sum", () => {
    const proof = proved([usage(CALLS, "600")])
    const [first] = proof.invoice.lines
    const wrong = { ...proof.invoice, lines: [{ ...first!, amount: first!.amount - 1n }] }
    const paths = checkProof({ ...proof, invoice: wrong }).problems.map(({ path }) => path)
    assert.include(paths, "invoice.lines[0].amount")
    assert.include(paths, "invoice.subtotal")
    const less = checkProof({ ...proof, invoice: { ...proof.invoice, total: proof.invoice.total - 1n } })
    assert.include(
      less.problems.map(({ path }) => path),
      "invoice.total",
    )
  })

  it("finds a rate that the tax service did not answer", () => {
    const proof = proved([usage(CALLS, "600")])
    const quote = { behavior: "exclusive", rates: { a: standard("7") } } as const
    assert.deepStrictEqual(
      checkProof({ ...proof, tax: { ...proof.tax, quote } }).problems.map(({ path }) => path),
      ["invoice.lines[0].tax"],
    )
  })

  it("reports values that can't be computed with", () => {
    const proof = proved([usage(CALLS, "600")])
    const [first] = proof.invoice.lines
    const lines = [{ ...first!, steps: [{ type: "unit", quantity: {}, price: null }] as never }]
    assert.isAbove(checkProof({ ...proof, invoice: { ...proof.invoice, lines } }).problems.length, 0)
  })
})

const YEARS = "{year}-{number:4}"
/** The format of a number: that of most, or one of `A-0001`. */
const formatOf = (number: string) => (/^[A-Z]/.test(number) ? `${number[0]!}-{number:4}` : YEARS)

/** A series of invoices of 1.00, with their proofs. */
const seriesOf = (numbers: ReadonlyArray<string>): ReadonlyArray<string> => {
  let previous = FIRST_PREVIOUS
  return numbers.map((number, index) => {
    const invoice = {
      ...invoiceOf(linesOf(100n), number, Date.UTC(2026, 10, 22 + index)),
      id: `inv_${String(index)}`,
    }
    const at = { ...place(index + 1, previous), format: formatOf(number) }
    const text = proofText(proofOf(at, invoice, { plans: [], tax: NO_TAX_SERVICE }))
    previous = sha256(text)
    return text
  })
}

const linkOfText = (text: string) => linkOf(readProof(parse(text)), sha256(text))
const chainProblems = (texts: ReadonlyArray<string>) =>
  problemsOfChain(texts.map(linkOfText)).map(({ path, problem }) => `${path} ${problem}`)

const FOUR = ["2026-0001", "2026-0002", "2026-0003", "2026-0004"]

describe("a series of proofs", () => {
  it("is right in any order, from any proof on, and over a new year", () => {
    const texts = seriesOf(FOUR)
    assert.deepStrictEqual(chainProblems(texts), [])
    assert.deepStrictEqual(chainProblems(texts.toReversed()), [])
    assert.deepStrictEqual(chainProblems(texts.slice(2)), [])
    assert.deepStrictEqual(chainProblems([]), [])
    assert.deepStrictEqual(chainProblems(seriesOf(["2026-0041", "2026-0042", "2027-0001", "2027-0002"])), [])
  })

  it("is right when the format of numbers changes, also back and forth", () => {
    const right = [
      ["A-0001", "A-0002", "B-0003", "A-0004"],
      ["2026-0001", "A-0002", "2026-0003"],
      ["2026-0009", "A-0010", "2027-0011"],
      ["2026-0009", "A-0010", "2027-0001"],
    ]
    for (const numbers of right) assert.deepStrictEqual(chainProblems(seriesOf(numbers)), [])
    // Invoices of one transaction may be proved in another order.
    assert.deepStrictEqual(chainProblems(seriesOf(["A-0001", "2026-0003", "2026-0002", "A-0004"])), [])
    assert.match(chainProblems(seriesOf(["A-0001", "B-0003"])).join(), /B-0003"\] is missing 1 numbers/)
    assert.match(chainProblems(seriesOf(["2026-0009", "A-0010", "2027-0005"])).join(), /is missing 4 numbers/)
    assert.match(chainProblems(seriesOf(["A-0001", "2026-0003"])).join(), /is missing 1 numbers/)
  })

  it("shows one that is missing", () => {
    const texts = seriesOf(FOUR)
    const found = chainProblems([texts[0]!, texts[1]!, texts[3]!])
    assert.lengthOf(found, 2)
    assert.match(found[0]!, /position 4: 1 before it are missing after 2026-0002/)
    assert.match(found[1]!, /is missing 1 numbers before it/)
  })

  it("shows one that was changed, and one that comes twice", () => {
    const texts = seriesOf(FOUR)
    const changed = texts.with(1, texts[1]!.replace('"description":"Line a"', '"description":"Line b"'))
    assert.match(
      chainProblems(changed).join(),
      /2026-0003"\] has another hash before it than that of 2026-0002/,
    )
    assert.match(chainProblems([...texts, texts[2]!]).join(), /has position 3, as 2026-0003 has/)
  })

  it("shows a number that was left out, or given twice, when it was issued", () => {
    assert.match(chainProblems(seriesOf(["2026-0001", "2026-0003"])).join(), /is missing 1 numbers/)
    assert.match(chainProblems(seriesOf(["2026-0001", "2027-0002"])).join(), /is missing 1 numbers/)
    assert.match(chainProblems(seriesOf(["2026-0001", "2026-0001"])).join(), /number that occurs twice/)
    assert.match(chainProblems(seriesOf(["2026-0001", "26/2"])).join(), /is not in the format/)
  })
})

const signing = async () => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])
  const { crv, kty, x } = await crypto.subtle.exportKey("jwk", publicKey)
  const keyId = createHash("sha256")
    .update(`{"crv":"Ed25519","kty":"OKP","x":"${x ?? ""}"}`)
    .digest("base64url")
  const sign = async (document: string) => ({
    document,
    key_id: keyId,
    signature: Buffer.from(
      await crypto.subtle.sign("Ed25519", privateKey, new TextEncoder().encode(document)),
    ).toString("base64"),
  })
  return { sign, jwk: { kty: kty ?? "", crv: crv ?? "", x: x ?? "" } }
}

describe("verifyProofs", () => {
  it("finds what was signed right, and knows the end", async () => {
    const { jwk, sign } = await signing()
    const texts = seriesOf(FOUR)
    const proofs = await Promise.all(texts.map(sign))
    const end = { position: 4, hash: sha256(texts[3]!) }
    assert.deepStrictEqual(await verifyProofs(proofs, { keys: { keys: [jwk] }, includes: end }), {
      isValid: true,
      problems: [],
      hasMore: false,
      proofs: 4,
      linesRated: 0,
      linesComputed: 4,
      first: 1,
      end,
    })
    const cut = await verifyProofs(proofs.slice(0, 3), { keys: { keys: [jwk] }, includes: end })
    assert.deepStrictEqual(
      cut.problems.map(({ problem }) => problem),
      [`lack the one at position 4 with the hash ${end.hash}`],
    )
  })

  it("refuses what somebody else signed, and what was changed after signing", async () => {
    const [ours, theirs] = [await signing(), await signing()]
    const [text] = seriesOf(["2026-0001"])
    const keys = { keys: [ours.jwk] }
    const foreign = await verifyProofs([await theirs.sign(text!)], { keys })
    assert.match(foreign.problems[0]!.problem, /not among those that are trusted/)
    // The name of a trusted key does not help.
    const named = { ...(await theirs.sign(text!)), key_id: (await ours.sign(text!)).key_id }
    assert.match((await verifyProofs([named], { keys })).problems[0]!.problem, /wrong signature/)
    const changed = { ...(await ours.sign(text!)), document: text!.replace("Line a", "Line b") }
    assert.match((await verifyProofs([changed], { keys })).problems[0]!.problem, /wrong signature/)
  })

  it("refuses other terms than those of the version, other text than canonical JSON, and no JSON", async () => {
    const { jwk, sign } = await signing()
    const keys = { keys: [jwk] }
    const proof = proved([usage(CALLS, "600")])
    const plans = [{ ...proof.plans[0]!, hash: sha256("other") }]
    const terms = await verifyProofs([await sign(proofText({ ...proof, plans }))], { keys })
    assert.deepStrictEqual(
      terms.problems.map(({ path }) => path),
      ["plans"],
    )
    const spaced = await verifyProofs([await sign(` ${proofText(proof)}`)], { keys })
    assert.match(spaced.problems[0]!.problem, /not canonical JSON/)
    const none = await verifyProofs([{ document: "", signature: "", keyId: "" }], { keys })
    assert.strictEqual(none.problems[0]!.path, "proofs[0]")
    assert.isFalse(none.isValid)
  })

  it("needs a key", async () => {
    const error: unknown = await verifyProofs([], { keys: { keys: [] } }).catch((reason: unknown) => reason)
    assert.instanceOf(error, TypeError)
  })
})
