/** Units of credits with decimals: what plans grant and burn, what tokens cost, and what says so. */
import { ConfigurationError, createBilling, generateProofKey, publicProofKey } from "billwright"
import { memory } from "billwright/memory"
import { verifyProofs } from "billwright/proof"
import { createTestBilling } from "billwright/testing"
import { assert, it } from "vitest"
import { rejection } from "./Rejection.ts"

const credits = { units: { credits: { decimals: 2 } } }

const studio = {
  key: "studio",
  name: "Studio",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    {
      key: "images",
      model: "unit",
      meter: "images",
      burns: "credits",
      price: { credits: "0.0078" },
    },
  ],
  grants: [{ unit: "credits", amount: "1.5" }],
} as const

it("are granted, burnt, previewed, explained, proved and sold in their smallest part", async () => {
  const proofKey = await generateProofKey()
  const billing = await createTestBilling({ now: "2026-04-01T00:00:00Z", credits, proofKey })
  await billing.meters.create({ key: "images", productId: "studio", unit: "image" })
  await billing.plans.push(studio)
  const preview = await billing.plans.preview({ plan: "studio", quantities: { images: 60 } })
  assert.deepInclude(preview.lines[0]?.steps.at(-1), { type: "burn", credits: "0.47" })
  const { id: customerId } = await billing.testing.customer()
  const account = { customerId, unit: "credits" }
  const { id } = await billing.subscriptions.create({ customerId, plan: "studio" })
  assert.deepInclude(await billing.credits.balance(account), { available: 150n, decimals: 2 })
  await billing.usage.record({ customerId, productId: "studio", unit: "image", quantity: 60 })
  const expected = { unit: "credits", decimals: 2, amount: 47n }
  assert.deepStrictEqual((await billing.invoices.upcoming(id))?.lines[0]?.burns, expected)
  await billing.testing.advanceTo("2026-05-02T00:00:00Z")
  const [invoice] = (await billing.invoices.list({ customerId }).page()).data
  const [line] = invoice!.lines
  assert.deepStrictEqual(line?.burns, expected)
  assert.deepStrictEqual(line?.steps.slice(-2), [
    { type: "round", digits: 2, amount: "0.47" },
    { type: "burn", unit: "credits", credits: "0.47", amount: "0" },
  ])
  const html = await billing.invoices.html(invoice!.id)
  assert.include(html, "0.47\u00a0credits")
  const keys = { keys: [publicProofKey(proofKey)] }
  const verified = await verifyProofs(billing.invoiceProofs.list(), { keys })
  assert.deepInclude(verified, { isValid: true, problems: [], linesRated: 1 })
  const topUp = await billing.topUps.create({ ...account, amount: 25_050, currency: "EUR", price: 2_000 })
  assert.strictEqual((await billing.invoices.get(topUp.invoiceId)).lines[0]?.quantity, "250.5")
  await billing.close()
})

it("decide how tokens are rounded, and refuse rate cards of other decimals", async () => {
  const billing = await createTestBilling({ now: "2026-04-01T00:00:00Z", credits })
  const { id: customerId } = await billing.testing.customer()
  const card = { key: "llm", unit: "credits", models: { large: { input: "2.00" } } }
  const error = await rejection(billing.rateCards.push({ ...card, decimals: 4 }))
  assert.deepInclude(error as object, {
    field: "rateCards.llm.decimals",
    problem: "must be left out, or 2 as credits.units.credits.decimals",
  })
  await billing.rateCards.push(card)
  const [stored] = (await billing.rateCards.list({}).page()).data
  assert.strictEqual(stored?.decimals, 2)
  const [again] = await billing.rateCards.push({ ...card, decimals: 2 })
  assert.strictEqual(again?.status, "unchanged")
  const call = { customerId, rateCard: "llm", model: "large" }
  const one = await billing.tokenUsages.create({ ...call, tokens: { input: 7_500 } })
  assert.deepInclude(one, { amount: 2n, exact: "0.015" })
  await billing.close()
})

it("name the option that is wrong", async () => {
  const wrong: ReadonlyArray<readonly [unknown, string]> = [
    [{ unit: {} }, 'credits has no option "unit"'],
    [{ units: { EUR: { decimals: 2 } } }, "credits.units.EUR must be left out"],
    [
      { units: { credits: { decimals: 7 } } },
      "credits.units.credits.decimals must be an integer from 0 to 6",
    ],
  ]
  for (const [option, message] of wrong) {
    const error = await rejection(createBilling({ store: memory(), log: false, credits: option as never }))
    assert.instanceOf(error, ConfigurationError)
    assert.include(error.message, message)
  }
})

it("are those of the host in a fork", async () => {
  const billing = await createTestBilling({ now: "2026-04-01T00:00:00Z", credits })
  await billing.meters.create({ key: "images", productId: "studio", unit: "image" })
  await billing.plans.push(studio)
  const { id: customerId } = await billing.testing.customer()
  await billing.subscriptions.create({ customerId, plan: "studio" })
  await billing.usage.record({ customerId, productId: "studio", unit: "image", quantity: 60 })
  const balance = await billing.fork(customerId, async (fork) => {
    await fork.advance({ months: 1, days: 1 })
    return fork.credits.balance({ customerId, unit: "credits" })
  })
  // What the first period left has ended, and the next one grants 1.50.
  assert.deepInclude(balance, { available: 150n, decimals: 2 })
  await billing.close()
})
