/** Proofs of invoices: made when invoices are issued, read by both APIs, and checked without either. */
import { type Billing, ConfigurationError, createBilling, generateProofKey, publicProofKey } from "billwright"
import { createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { verifyProofs } from "billwright/proof"
import { assert, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const started = (proofKey?: string): Promise<Billing> =>
  createBilling({
    store: memory(),
    mode: "test",
    dispatcher: "manual",
    log: false,
    ...(proofKey === undefined ? {} : { proofKey }),
  })

const plan = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "calls",
      free: "100",
      tiers: [{ up_to: "1000", price: { EUR: "0.10" } }, { price: { EUR: "0.05" } }],
    },
  ],
} as const

const all = async <A>(listing: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const one of listing) found.push(one)
  return found
}

/** Invoices of a subscription that ran and was canceled, and one of an item. */
const bill = async (billing: Billing) => {
  const { id: customerId } = await billing.customers.create({
    name: "Ada",
    email: "ada@example.com",
    currency: "EUR",
  })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
  await billing.plans.push(plan)
  const startAt = new Date(Date.now() - 3_600_000)
  const { id } = await billing.subscriptions.create({ customerId, plan: "pro", startAt })
  await billing.usage.record({
    customerId,
    productId: "api",
    unit: "call",
    quantity: 2_500,
    timestamp: startAt,
  })
  await billing.subscriptions.cancel(id, { at: "now", credit: "none" })
  await billing.runDue()
  await billing.invoices.create({ customerId, lines: [{ description: "Workshop", amount: 90_000 }] })
  const drafts = await all(billing.invoices.list({ status: "draft" }))
  for (const draft of drafts.toReversed()) await billing.invoices.finalize(draft.id)
}

describe("proofs of invoices", () => {
  it("are made of each invoice that is issued, in the order of numbers, and rated again without the store", async () => {
    const proofKey = await generateProofKey()
    const billing = await started(proofKey)
    await bill(billing)
    const proofs = await all(billing.invoiceProofs.list())
    const invoices = (await all(billing.invoices.list())).filter(({ number }) => number !== null)
    assert.sameMembers(
      proofs.map(({ invoiceId }) => invoiceId),
      invoices.map(({ id }) => id),
    )
    const keys = { keys: [publicProofKey(proofKey)] }
    const verified = await verifyProofs(billing.invoiceProofs.list(), { keys })
    assert.deepStrictEqual(verified.problems, [])
    assert.deepInclude(verified, { isValid: true, first: 1, linesRated: 2, linesComputed: 1 })
    assert.deepStrictEqual(verified.end, { position: invoices.length, hash: proofs[0]!.hash })
    assert.deepStrictEqual(
      proofs.map(({ number }) => number),
      proofs
        .map(({ number }) => number)
        .toSorted()
        .toReversed(),
    )
    const [first] = (await billing.invoiceProofs.list({ invoiceId: invoices[0]!.id }).page()).data
    assert.deepStrictEqual(await billing.invoiceProofs.get(first!.id), first)
    await billing.close()
  })

  it("are the same by the client, whose proofs can be checked alike", async () => {
    const proofKey = await generateProofKey()
    const billing = await started(proofKey)
    await bill(billing)
    const apiKey = (await billing.keys.create({ name: "auditor", scopes: ["invoices:read"] })).secret
    const fetch = (url: string, init: RequestInit) => billing.fetch(new Request(url, init))
    const client = createClient({ url: "http://localhost", apiKey, fetch })
    assert.deepStrictEqual(await all(client.invoiceProofs.list()), await all(billing.invoiceProofs.list()))
    const answer = await billing.fetch(
      new Request("http://localhost/v1/invoice_proofs", { headers: { authorization: `Bearer ${apiKey}` } }),
    )
    const { data } = (await answer.json()) as {
      readonly data: ReadonlyArray<{ document: string; signature: string; key_id: string }>
    }
    const keys = { keys: [publicProofKey(proofKey)] }
    assert.isTrue((await verifyProofs(data, { keys })).isValid)
    // One that is left out is seen.
    assert.isFalse((await verifyProofs(data.toSpliced(1, 1), { keys })).isValid)
    await billing.close()
  })

  it("are not made without a key", async () => {
    const billing = await started()
    await bill(billing)
    assert.deepStrictEqual(await all(billing.invoiceProofs.list()), [])
    assert.deepInclude(
      { ...(await rejection(billing.invoiceProofs.get(`prf_${"0".repeat(26)}`))) } as object,
      {
        code: "invoice_proof_not_found",
      },
    )
    await billing.close()
  })

  it("need a key that is one, and the message does not have it", async () => {
    const wrong = ["", "prfk_", `prfk_${btoa("short")}`, "not a key"]
    for (const proofKey of wrong) {
      const error = await rejection(started(proofKey))
      assert.instanceOf(error, ConfigurationError)
      assert.match(error.message, /a key that signs proofs must be prfk_ and the base64 of 64 bytes/)
      assert.throws(() => publicProofKey(proofKey), ConfigurationError)
    }
    assert.notStrictEqual(await generateProofKey(), await generateProofKey())
  })
})
