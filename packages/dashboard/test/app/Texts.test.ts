import { execFileSync } from "node:child_process"
import { assert, describe, it } from "vitest"
import { addressOf } from "../../app/api/Client.ts"
import { percent, successRate } from "../../app/api/Statistics.ts"
import * as Curl from "../../app/Curl.ts"
import * as MetadataLines from "../../app/customers/MetadataLines.ts"
import * as HeaderLines from "../../app/endpoints/HeaderLines.ts"
import * as Instant from "../../app/Instant.ts"
import * as Quantity from "../../app/Quantity.ts"
import * as Key from "../../app/session/Key.ts"
import { destination } from "../../app/shell/Destination.ts"
import { stack } from "../../app/ui/BarStack.ts"
import { partsOf } from "../../app/ui/JsonParts.ts"
import { periodOf } from "../../app/usage/ThresholdPeriod.ts"
import { totalsOf } from "../../app/usage/UsageTotals.ts"

const NOW = Date.parse("2026-11-21T09:30:00.000Z")
const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString()

describe("Instant", () => {
  it("says how long ago, and how soon", () => {
    assert.strictEqual(Instant.relative(at(-2), NOW), "now")
    assert.strictEqual(Instant.relative(at(-42), NOW), "42 sec. ago")
    assert.strictEqual(Instant.relative(at(-119), NOW), "1 min. ago")
    assert.strictEqual(Instant.relative(at(-86_000), NOW), "23 hr. ago")
    assert.strictEqual(Instant.relative(at(20), NOW), "in 20 sec.")
    assert.strictEqual(Instant.relative(at(-6 * 86_400), NOW), "6 days ago")
    assert.strictEqual(Instant.relative(at(-10 * 86_400), NOW), "10 days ago")
    assert.strictEqual(Instant.relative(at(-70 * 86_400), NOW), "2 mo. ago")
    assert.strictEqual(Instant.relative(at(-400 * 86_400), NOW), "1 yr. ago")
  })

  it("shows an instant to the second, and to the millisecond as in logs", () => {
    assert.match(Instant.moment(at(-42), NOW), /^21 Nov, \d\d:\d9:18$/)
    assert.match(Instant.moment(at(-400 * 86_400), NOW), /^17 Oct 2025, /)
    assert.strictEqual(Instant.utc("2026-11-21T09:30:00.123Z"), "2026-11-21 09:30:00.123 UTC")
    assert.match(Instant.zone, /\S/)
  })

  it("has days of any time zone, and the last day of a period", () => {
    // The last millisecond of 21 November on Hawaii, and the first of 21 November in Auckland.
    assert.strictEqual(Instant.day("2026-11-22T09:59:59.999Z", "Pacific/Honolulu"), "21 Nov 2026")
    assert.strictEqual(Instant.day("2026-11-22T09:59:59.999Z", "UTC"), "22 Nov 2026")
    assert.strictEqual(Instant.day("2026-11-20T11:00:00.000Z", "Pacific/Auckland"), "21 Nov 2026")
    const [start, end] = ["2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"]
    assert.strictEqual(Instant.lastOf(start, end), "2026-11-30T23:59:59.999Z")
    assert.strictEqual(Instant.lastOf(null, end), "2026-11-30T23:59:59.999Z")
    assert.strictEqual(Instant.lastOf(start, start), start)
  })

  it("keeps the exact instant", () => {
    assert.include(Instant.exact("2026-11-21T09:30:00.123Z"), "2026-11-21 09:30:00.123 UTC")
  })

  it("counts UTC days across the end of a month", () => {
    assert.strictEqual(Instant.utcDay(Date.parse("2026-03-01T00:00:00Z"), 1), "2026-02-28")
    assert.deepEqual(periodOf("month", Date.parse("2028-02-10T12:00:00Z")), {
      start_date: "2028-02-01",
      end_date: "2028-02-29",
    })
    assert.deepEqual(periodOf("lifetime", NOW), {})
  })

  it("converts local times in both directions", () => {
    const instant = "2026-06-01T12:30:00.000Z"
    assert.strictEqual(Instant.fromLocalInput(Instant.toLocalInput(Date.parse(instant))), instant)
    assert.isUndefined(Instant.fromLocalInput(""))
    assert.isUndefined(Instant.startOfDay("x"))
  })
})

describe("Quantity", () => {
  it("shows all digits of any integer", () => {
    assert.strictEqual(Quantity.format(270_215_977_642_229_295n), "270,215,977,642,229,295")
    assert.strictEqual(Quantity.sum([1, 9_007_199_254_740_993n]), 9_007_199_254_740_994n)
  })

  it("shows 100 % only when the limit is reached", () => {
    assert.strictEqual(Quantity.percentOf(999_999, 1_000_000), 99)
    assert.strictEqual(Quantity.percentOf(10n ** 30n, 10n ** 30n), 100)
  })

  it("is short on axes, in readable units", () => {
    const labels = [
      [0, "0"],
      [950, "950"],
      [1_500, "1.5 k"],
      [2_000_000, "2 M"],
      [5e15, "5,000 T"],
      [2.5e17, "250,000 T"],
      [5e18, "5 × 10¹⁸"],
      [1.25e21, "1.25 × 10²¹"],
      [1e30, "1 × 10³⁰"],
    ] as const
    for (const [quantity, label] of labels) assert.strictEqual(Quantity.compact(quantity), label)
  })
})

describe("success rates", () => {
  it("are not rounded up to 100", () => {
    assert.strictEqual(percent(successRate({ delivered: 99_999, failed: 1 }) ?? 0), "99.9 %")
    assert.strictEqual(percent(1), "100 %")
    assert.isUndefined(successRate({ delivered: 0, failed: 0 }))
  })
})

describe("Curl", () => {
  it("quotes any text for a real shell", () => {
    const hostile = `it's $(touch /tmp/x) \`id\` "\\" \n; rm -rf / #`
    const echoed = execFileSync("sh", ["-c", `printf %s ${Curl.quote(hostile)}`], { encoding: "utf8" })
    assert.strictEqual(echoed, hostile)
  })

  it("writes one command", () => {
    const command = Curl.curl({
      method: "POST",
      url: "https://example.com/a'b",
      headers: { "x-a": "1\r\nx-b: 2", "Content-Length": "7" },
      body: "{}",
    })
    const words = execFileSync("sh", ["-c", command.replace("curl", "printf '%s\n'")], { encoding: "utf8" })
    assert.deepEqual(words.trimEnd().split("\n"), [
      "--request",
      "POST",
      "--url",
      "https://example.com/a'b",
      "--header",
      "x-a: 1 x-b: 2",
      "--data-raw",
      "{}",
    ])
  })

  it("has the key as a variable", () => {
    assert.include(Curl.apiCurl("http://localhost/v1", "GET", "/events"), "$BILLWRIGHT_API_KEY")
  })
})

describe("addresses", () => {
  it("of the API are encoded, without missing parameters", () => {
    assert.strictEqual(
      addressOf("/billing/v1", "/v1/events/{id}/replay", { path: { id: "../a b?c" } }),
      "/billing/v1/events/..%2Fa%20b%3Fc/replay",
    )
    assert.strictEqual(
      addressOf("/v1", "/v1/events", { query: { limit: 5, type: undefined, customer_id: "" } }),
      "/v1/events?limit=5",
    )
  })

  it("are found for a text in the search field", () => {
    const id = "01m7yrrtxkefbvh6qrmeqwhxcg"
    assert.strictEqual(destination(` evt_${id} `), `/events/evt_${id}`)
    assert.strictEqual(destination(`whe_${id}`), `/endpoints/whe_${id}`)
    assert.strictEqual(destination("ada+1@example.com"), "/customers?search=ada%2B1%40example.com")
    assert.strictEqual(destination(" Ada L"), "/customers?search=Ada%20L")
    assert.strictEqual(destination("javascript:alert(1)"), "/customers?search=javascript%3Aalert(1)")
    for (const text of ["", "ad", "evt_", `xyz_${id}`, `evt_${id}/../x`])
      assert.isUndefined(destination(text))
  })
})

describe("keys", () => {
  it("show their mode", () => {
    const rest = "a".repeat(38)
    assert.strictEqual(Key.modeOf(`sk_${"test"}_${rest}`), "test")
    assert.strictEqual(Key.modeOf(`sk_${"live"}_${rest}`), "live")
    for (const key of ["", `sk_${"prod"}_${rest}`, `sk_${"test"}_${rest}x`, `sk_${"test"}_${rest} `])
      assert.isUndefined(Key.modeOf(key))
  })
})

describe("lines", () => {
  it("of metadata can be parsed and written again", () => {
    const metadata = { plan: "pro", "a=b": "c\\d\ne=f", "  ": "" }
    assert.deepEqual(MetadataLines.parse(MetadataLines.write(metadata)), metadata)
    assert.deepEqual(MetadataLines.patch({ a: "1", b: "2" }, { b: "3" }), { a: null, b: "3" })
    assert.isUndefined(MetadataLines.parse("plan"))
  })

  it("of headers", () => {
    assert.deepEqual(HeaderLines.parse("X-Tenant: 42\n\nx-a:b:c"), { "x-tenant": "42", "x-a": "b:c" })
    assert.isUndefined(HeaderLines.parse("nothing"))
  })
})

describe("totals of usage", () => {
  it("are exact, by product and unit, with days without usage", () => {
    const point = (day: number, product_id: string, unit: string | null, quantity: number | bigint) => ({
      start: `2026-11-0${day}T00:00:00.000Z`,
      product_id,
      unit,
      quantity,
      record_count: unit === null ? 0 : 1,
    })
    const totals = totalsOf([
      point(1, "api", "call", 2 ** 53 - 1),
      point(2, "api", "call", 2n ** 53n + 1n),
      point(2, "api", "byte", 5),
      point(3, "api", null, 0),
    ])
    assert.deepEqual(
      totals.map(({ days, productId, total, unit }) => [
        productId,
        unit,
        total,
        days.map((day) => day.quantity),
      ]),
      [
        ["api", "byte", 5n, [0n, 5n, 0n]],
        ["api", "call", 2n ** 54n, [2n ** 53n - 1n, 2n ** 53n + 1n, 0n]],
      ],
    )
  })
})

describe("pictures", () => {
  it("stack series", () => {
    assert.deepEqual(
      stack([
        [1, 0],
        [2, 3],
        [0, 1],
      ]),
      [
        [1, 0],
        [3, 3],
        [3, 4],
      ],
    )
  })

  it("of JSON together are its whole text, for any text", () => {
    const texts = [
      `{"a\\"b": [1, -2.5e3, true, null, "x: \\\\"], "": "<script>"}`,
      'not json " at all',
      "1".repeat(30_000),
    ]
    for (const text of texts)
      assert.strictEqual(
        partsOf(text)
          .map((part) => part.text)
          .join(""),
        text,
      )
    assert.deepEqual(
      partsOf(`{"k": "v", "n": 1}`)
        .filter(({ kind }) => kind !== "plain")
        .map(({ kind }) => kind),
      ["key", "string", "key", "literal"],
    )
  })
})
