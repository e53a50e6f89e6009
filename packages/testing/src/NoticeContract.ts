/**
 * The contract of payment providers: notices.
 */
import { NOTICE_TOLERANCE_SECONDS, type NoticeRequest, type Received } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { paidTest, type TestProvider } from "./ProviderWorld.ts"

const NOW = Date.UTC(2026, 0, 15, 12)
const TOLERANCE_MILLIS = NOTICE_TOLERANCE_SECONDS * 1_000

const textOf = ({ body }: NoticeRequest): string => new TextDecoder().decode(body)
const withBody = (request: NoticeRequest, text: string): NoticeRequest => ({
  ...request,
  body: new TextEncoder().encode(text),
})

const referencesOf = (received: Received) =>
  received.type === "notices" ? received.notices.map(({ about, reference }) => [about, reference]) : []

/** Registers the tests of notices. */
export const noticeTests = (make: () => TestProvider): void => {
  const test = paidTest(make)

  test("a notice says what to read again", (given) =>
    Effect.gen(function* () {
      const { dispute, notice, provider, reference } = given
      const refund = {
        refundId: `ref_${reference.slice(-40)}`,
        paymentReference: reference,
        amount: 500n,
        currency: "EUR",
      }
      const refunded = (yield* provider.refund(refund)).reference ?? ""
      const told = [
        ["payment", reference],
        ["refund", refunded],
        ["dispute", dispute(reference)],
      ] as const
      for (const [about, named] of told) {
        const received = provider.receive(notice(about, named, { at: NOW }), NOW)
        assert.deepInclude(referencesOf(received), [about, named])
      }
    }))

  test("a notice that is sent again has the same event id", ({ notice, provider, reference }) =>
    Effect.sync(() => {
      const first = provider.receive(notice("payment", reference, { at: NOW }), NOW)
      const again = provider.receive(notice("payment", reference, { at: NOW + 60_000 }), NOW + 60_000)
      assert.deepStrictEqual(again, first)
    }))

  test("while a secret is replaced, the old one is right, too; another one is not", (given) =>
    Effect.sync(() => {
      const { notice, provider, reference } = given
      for (const secret of ["current", "previous"] as const) {
        const received = provider.receive(notice("payment", reference, { at: NOW, secret }), NOW)
        assert.strictEqual(received.type, "notices", secret)
      }
      const other = notice("payment", reference, { at: NOW, secret: "unknown" })
      assert.deepStrictEqual(provider.receive(other, NOW), { type: "invalid" })
    }))

  test("a signature is right for five minutes, in both directions", ({ notice, provider, reference }) =>
    Effect.sync(() => {
      const typeAt = (at: number) => provider.receive(notice("payment", reference, { at }), NOW).type
      assert.deepStrictEqual(
        [-TOLERANCE_MILLIS, TOLERANCE_MILLIS, -TOLERANCE_MILLIS - 1_000, TOLERANCE_MILLIS + 1_000].map(
          (away) => typeAt(NOW + away),
        ),
        ["notices", "notices", "invalid", "invalid"],
      )
      assert.strictEqual(typeAt(NOW + 3_600_000), "invalid")
    }))

  test("a body that was changed or written again is not signed", ({ notice, provider, reference }) =>
    Effect.sync(() => {
      const request = notice("payment", reference, { at: NOW })
      const text = textOf(request)
      for (const other of [`${text} `, text.replace(reference, `${reference}x`), "", "{}"]) {
        assert.deepStrictEqual(provider.receive(withBody(request, other), NOW), { type: "invalid" })
      }
    }))

  test("a request that holds anything is invalid, and never an error", ({ notice, provider, reference }) =>
    Effect.sync(() => {
      const { body, headers } = notice("payment", reference, { at: NOW })
      const bodies = [body, new Uint8Array(), new Uint8Array([0xff, 0xfe, 0x00]), new Uint8Array(100_000)]
      const values = ["", "t=,v1=", "t=1,v1=0", "v1=,,,", "t=99999999999999999999,v1=x", "\u0000"]
      for (const bytes of bodies) {
        assert.deepStrictEqual(provider.receive({ body: bytes, headers: {} }, NOW), { type: "invalid" })
        for (const value of values) {
          const hostile = Object.fromEntries(Object.keys(headers).map((name) => [name, value]))
          const received = provider.receive({ body: bytes, headers: hostile }, NOW)
          assert.deepStrictEqual(received, { type: "invalid" })
        }
      }
    }))

  test("what is signed and about something else is foreign", ({ foreignNotice, provider }) =>
    Effect.sync(() => {
      assert.deepStrictEqual(provider.receive(foreignNotice({ at: NOW }), NOW), { type: "foreign" })
    }))
}
