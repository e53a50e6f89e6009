/** The journal by the Promise API, the REST API and its client. */
import { createClient } from "billwright/client"
import { createTestBilling } from "billwright/testing"
import { assert, it } from "vitest"

const DAYS = { startDate: "2026-01-01", endDate: "2026-12-31" }

const started = async () => {
  const billing = await createTestBilling({ now: "2026-01-01T12:00:00Z", log: false })
  const { id: customerId } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
  // More invoices than a page has, so that pages follow each other.
  for (let n = 1; n <= 22; n++) {
    const lines = [{ description: "Work", amount: BigInt(n) }]
    const { id } = await billing.invoices.create({ customerId, currency: "EUR", lines })
    await billing.invoices.finalize(id)
  }
  const { secret } = await billing.keys.create({ name: "reader", scopes: ["invoices:read"] })
  const get = (path: string) =>
    billing.fetch(new Request(`http://api.test${path}`, { headers: { authorization: `Bearer ${secret}` } }))
  const client = createClient({
    url: "http://api.test",
    apiKey: secret,
    fetch: (url, init) => billing.fetch(new Request(url, init)),
  })
  return { billing, client, get }
}

const textOf = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = ""
  for await (const piece of pieces) text += piece
  return text
}

it("gives pages, and all of them as text, the same by each way", async () => {
  const { billing, client, get } = await started()
  const first = await billing.books.journal(DAYS)
  assert.isTrue(first.hasMore)
  const rest = await billing.books.journal({ ...DAYS, startingAfter: first.last! })
  assert.isFalse(rest.hasMore)
  assert.lengthOf([...first.entries, ...rest.entries], 2 * 22)
  assert.deepStrictEqual(await client.books.journal(DAYS), first)
  assert.deepStrictEqual(await client.books.journal({ ...DAYS, startingAfter: first.last! }), rest)
  for (const format of ["csv", "hledger", "json"] as const) {
    const text = await textOf(billing.books.export({ ...DAYS, format }))
    const answer = await get(`/v1/journal/export?format=${format}&start_date=2026-01-01&end_date=2026-12-31`)
    assert.strictEqual(answer.headers.get("content-type"), "text/plain")
    assert.strictEqual(await answer.text(), text)
  }
  const csv = await textOf(billing.books.export({ ...DAYS, format: "csv" }))
  assert.lengthOf(csv.trimEnd().split("\n"), 1 + 4 * 22)
  await billing.close()
})

it("refuses what it does not know, before anything is sent", async () => {
  const { billing, get } = await started()
  for (const query of ["?format=xls", "?format=csv&start_date=2026-02-30"]) {
    assert.strictEqual((await get(`/v1/journal/export${query}`)).status, 400, query)
  }
  const end = await get("/v1/journal?start_date=2026-02-01&end_date=2026-01-01")
  assert.include(await end.text(), "end_date")
  await billing.close()
})
