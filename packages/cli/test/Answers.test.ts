/**
 * How a delivery is printed in one line.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Answers from "../src/Answers.ts"

const tried = {
  id: "dlv_1",
  event_id: "evt_1",
  event_type: "invoice.paid",
  endpoint_id: "whe_1",
  status: "Pending",
  reason: null,
  attempt_count: 1,
  next_attempt_at: "2026-11-21T09:30:30.000Z",
  last_response_status: 500,
  last_error: null,
} as const
const LINE = "dlv_1  whe_1  Pending    1 attempt  answered 500"

describe("the line of a delivery that will be tried again", () => {
  it("has the time of the next attempt", () => {
    assert.strictEqual(
      Answers.line({ ...tried, attempt_started_at: null }),
      `${LINE}  next at 2026-11-21T09:30:30.000Z`,
    )
  })

  it("has no such time while an attempt is under way, or when the answer doesn't say whether one is", () => {
    assert.strictEqual(
      Answers.line({ ...tried, attempt_started_at: "2026-11-21T09:30:00.000Z" }),
      `${LINE}  attempt under way since 2026-11-21T09:30:00.000Z`,
    )
    assert.strictEqual(Answers.line(tried), LINE)
  })
})
