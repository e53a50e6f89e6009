import { assert, describe, it } from "vitest"
import { ApiError } from "../../app/api/ApiError.ts"
import { fieldErrorOf, refused } from "../../app/api/FieldError.ts"
import type { DeliveryWithAttempts, EndpointStatistics } from "../../app/api/Types.ts"
import { nextAttemptAt, outcomeOf } from "../../app/deliveries/Summary.ts"
import { healthOf } from "../../app/endpoints/Health.ts"
import { partsOfUrl } from "../../app/ui/UrlParts.ts"

const NOW = Date.parse("2026-11-21T09:30:00.000Z")
const secondsAgo = (seconds: number) => new Date(NOW - seconds * 1_000).toISOString()

describe("an endpoint", () => {
  /** Failed attempts in the hours that begin at 08:00 and 09:00. */
  const statistics = (before: number, now: number): EndpointStatistics => ({
    endpoint_id: "whe_1",
    delivered: 0,
    failed: 0,
    failed_attempts: before + now,
    pending: 0,
    hours: [
      { start: "2026-11-21T08:00:00.000Z", delivered: 0, failed: 0, failed_attempts: before },
      { start: "2026-11-21T09:00:00.000Z", delivered: 0, failed: 0, failed_attempts: now },
    ],
  })
  const health = (failing_since: string | null, counted: EndpointStatistics | undefined) =>
    healthOf({ status: "enabled", failing_since }, counted, NOW)

  it("is failing after several failures without a success, but not after one", () => {
    assert.strictEqual(health(null, statistics(9, 9)), "enabled")
    assert.strictEqual(health(secondsAgo(600), statistics(0, 1)), "enabled")
    assert.strictEqual(health(secondsAgo(600), statistics(0, 2)), "enabled")
    assert.strictEqual(health(secondsAgo(600), statistics(0, 3)), "failing")
    assert.strictEqual(health(secondsAgo(600), undefined), "enabled")
  })

  it("is not failing after a later success", () => {
    assert.strictEqual(health(secondsAgo(600), statistics(9, 1)), "enabled")
    assert.strictEqual(health(secondsAgo(5), statistics(0, 9)), "enabled")
    assert.strictEqual(health(secondsAgo(3_600), statistics(2, 1)), "failing")
  })

  it("is failing when no attempt has succeeded for longer than the statistics reach", () => {
    assert.strictEqual(health(secondsAgo(86_400), statistics(0, 0)), "failing")
  })

  it("is disabled, even if it was failing", () => {
    const endpoint = { status: "disabled", failing_since: secondsAgo(86_400) } as const
    assert.strictEqual(healthOf(endpoint, statistics(9, 9), NOW), "disabled")
  })
})

describe("a delivery", () => {
  const delivery: DeliveryWithAttempts = {
    object: "delivery",
    id: "dlv_1",
    event_id: "evt_1",
    event_type: "invoice.paid",
    endpoint_id: "whe_1",
    status: "Pending",
    reason: null,
    attempt_count: 0,
    next_attempt_at: secondsAgo(0),
    last_response_status: null,
    last_error: null,
    finished_at: null,
    livemode: false,
    created_at: secondsAgo(9),
    attempt_started_at: null,
    attempts: [],
  }

  it("has no next attempt while one is under way", () => {
    const next_attempt_at = secondsAgo(-30)
    const underWay = { ...delivery, next_attempt_at, attempt_count: 1, attempt_started_at: secondsAgo(1) }
    assert.isNull(nextAttemptAt(underWay))
    assert.strictEqual(outcomeOf(underWay), "Attempt 2 is under way.")
    assert.strictEqual(nextAttemptAt({ ...underWay, attempt_started_at: null }), next_attempt_at)
  })

  it("is described by its state or result", () => {
    assert.strictEqual(outcomeOf(delivery), "On its way: no attempt has ended yet.")
    assert.strictEqual(
      outcomeOf({ ...delivery, attempt_count: 2, last_response_status: 500 }),
      "Attempt 2 failed. Another one follows.",
    )
    assert.strictEqual(
      outcomeOf({ ...delivery, status: "Delivered", attempt_count: 3, last_response_status: 204 }),
      "Delivered: the receiver answered HTTP 204 to attempt 3.",
    )
    assert.strictEqual(
      outcomeOf({ ...delivery, status: "Failed", reason: "exhausted", attempt_count: 1 }),
      "Failed for good after 1 attempt: the last attempt of the schedule failed.",
    )
  })
})

describe("an address", () => {
  it.each([
    ["https://example.com/webhooks?a=/b#c", "https://example.com", "/webhooks?a=/b#c"],
    ["http://127.0.0.1:45693/", "http://127.0.0.1:45693", ""],
    ["https://example.com", "https://example.com", ""],
    ["https://example.com?x=1", "https://example.com", "?x=1"],
    ["whe_1", "whe_1", ""],
  ])("has a path that is not cut together with its host: %s", (url, origin, path) => {
    assert.deepEqual(partsOfUrl(url), { origin, path })
  })
})

describe("an error", () => {
  const of = (code: string, message: string) => fieldErrorOf(new ApiError(400, code, message, undefined))

  it("names the field that it is about", () => {
    assert.deepEqual(of("invalid_request", "url must be https, as it is live"), {
      name: "url",
      part: "",
      problem: "must be https, as it is live",
    })
    assert.deepEqual(of("invalid_request", 'headers["x a"] must be text'), {
      name: "headers",
      part: '["x a"]',
      problem: "must be text",
    })
    assert.deepEqual(of("invalid_request", "metadata.plan must be text"), {
      name: "metadata",
      part: ".plan",
      problem: "must be text",
    })
    assert.deepEqual(of("not_found", "customer_id: no customer has the id x"), {
      name: "customer_id",
      part: "",
      problem: "no customer has the id x",
    })
    assert.deepEqual(fieldErrorOf(refused("quantity", "must be a number")), {
      name: "quantity",
      part: "",
      problem: "must be a number",
    })
  })

  it("names no field when it is not about a field", () => {
    assert.isUndefined(of("unavailable", "storage is out of reach"))
    assert.isUndefined(of("invalid_request", "The body is no JSON"))
    assert.isUndefined(fieldErrorOf(new Error("name must be x")))
  })
})
