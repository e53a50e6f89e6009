/** The days of an invoice's revenue. What is booked on them is tested with the services, and with the views of Postgres. */
import { assert, describe, it } from "vitest"
import { LineDays } from "../../src/books/InvoiceJournal.ts"

const DAY = 86_400_000
const span = (from: number, to: number) => ({ periodStart: from * DAY, periodEnd: to * DAY })

describe("the days of a line", () => {
  it("are those of its service, the day of the invoice, and those of credit notes, within the time that is asked for", () => {
    const days = new LineDays([25, 12, 40], 10, 30)
    assert.deepStrictEqual(days.of(span(20, 23)), [10, 12, 20, 21, 22, 25])
    assert.deepStrictEqual(days.of(span(5, 12)), [10, 11, 12, 25])
    assert.deepStrictEqual(days.of(span(28, 50)), [10, 12, 25, 28, 29, 30])
    assert.deepStrictEqual(days.of({ periodStart: null, periodEnd: null }), [10, 12, 25])
  })

  it("are listed once for all lines of a service period", () => {
    const days = new LineDays([], 10, 30)
    assert.strictEqual(days.of(span(20, 23)), days.of(span(20, 23)))
    assert.notStrictEqual(days.of(span(20, 23)), days.of(span(20, 24)))
  })
})
