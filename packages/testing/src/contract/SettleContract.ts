/**
 * The contract of `DeliveryStore.settle`: what it writes.
 */
import type { Delivery, DeliveryMachine } from "@billwright/core"
import { Effect } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import { type ContractTest, Effort, same } from "./ContractTest.ts"
import {
  claim,
  claimNew,
  claimOne,
  delivery,
  emptyQueue,
  failedUntil,
  listDeliveries,
  minute,
  newEndpoint,
  publish,
  refused,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const states = (test: ContractTest): void => {
  const cases: ReadonlyArray<
    readonly [
      name: string,
      state: DeliveryMachine.DeliveryState,
      attempt: Partial<Delivery.Attempt> | undefined,
      expected: Partial<Delivery.Delivery>,
    ]
  > = [
    [
      "a success",
      { status: "Delivered", attemptCount: 1 },
      {},
      { status: "Delivered", attemptCount: 1, lastResponseStatus: 200 },
    ],
    [
      "a failure with attempts left",
      { status: "Pending", attemptCount: 1, dueAt: minute(9).epochMilliseconds },
      refused,
      { attemptCount: 1, nextAttemptAt: minute(9), lastResponseStatus: 500 },
    ],
    [
      "the last failure",
      { status: "Failed", attemptCount: 1, reason: "exhausted" },
      { responseStatus: null, responseHeaders: null, responseBody: null, error: "timeout" },
      { status: "Failed", reason: "exhausted", attemptCount: 1, lastError: "timeout" },
    ],
    [
      "410 Gone",
      { status: "Failed", attemptCount: 1, reason: "gone" },
      { responseStatus: 410 },
      { status: "Failed", reason: "gone", attemptCount: 1, lastResponseStatus: 410 },
    ],
    [
      "a release without an attempt",
      { status: "Pending", attemptCount: 0, dueAt: minute(1).epochMilliseconds },
      undefined,
      { attemptCount: 0, nextAttemptAt: minute(1) },
    ],
    [
      "an end without an attempt",
      { status: "Failed", attemptCount: 0, reason: "endpoint_disabled" },
      undefined,
      { status: "Failed", reason: "endpoint_disabled" },
    ],
    [
      "a delivery that can't be read",
      { status: "Failed", attemptCount: 0, reason: "unreadable" },
      undefined,
      { status: "Failed", reason: "unreadable" },
    ],
  ]

  for (const [name, state, attempt, expected] of cases) {
    test(
      `writes ${name}`,
      Effect.gen(function* () {
        yield* emptyQueue
        yield* newEndpoint()
        const { before, claimed } = yield* claimNew
        const settlement = settlementOf(claimed, { state, at: minute(1) }, attempt)
        const ends = state.status !== "Pending"
        same(yield* settle([attempt === undefined ? { ...settlement, attempt: undefined } : settlement]), [
          true,
        ])
        const found = yield* delivery(claimed.id)
        same(found.delivery, {
          ...before,
          nextAttemptAt: null,
          finishedAt: ends ? minute(1) : null,
          ...expected,
        })
        same(found.attempts, attempt === undefined ? [] : [settlement.attempt])
        same((yield* listDeliveries({ status: state.status })).data, [found.delivery])
        // The lease has ended normally: the next claim finds no lost attempt.
        const again = (yield* claim(minute(90))).deliveries
        same(
          again.map(({ attemptCount, wasLost }) => [attemptCount, wasLost]),
          ends ? [] : [[state.attemptCount, false]],
        )
      }),
    )
  }

  test(
    "stores every field of an attempt, including hostile text",
    Effect.gen(function* () {
      const effort = yield* Effort
      yield* emptyQueue
      yield* newEndpoint()
      yield* forAll(Generators.attempt, effort, (attempt) =>
        Effect.gen(function* () {
          const { claimed } = yield* claimNew
          same(yield* settle([settlementOf(claimed, {}, attempt)]), [true])
          const found = yield* delivery(claimed.id)
          same(found.attempts, [attempt])
          same(
            [found.delivery.lastResponseStatus, found.delivery.lastError],
            [attempt.responseStatus, attempt.error],
          )
        }),
      )
    }),
  )

  test(
    "returns attempts in order, and the status of the last answer",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const noAnswer = { responseStatus: null, responseHeaders: null, responseBody: null } as const
      const results: ReadonlyArray<Partial<Delivery.Attempt>> = [
        refused,
        { ...noAnswer, error: "dns_error" },
        { responseStatus: 503 },
        { ...noAnswer, error: "reset" },
      ]
      const last = [
        [500, null],
        [500, "dns_error"],
        [503, null],
        [503, "reset"],
      ]
      yield* publish()
      const attempts: Array<Delivery.Attempt | undefined> = []
      for (const [index, result] of results.entries()) {
        const claimed = yield* claimOne(minute(index))
        const settlement = settlementOf(claimed, failedUntil(claimed, minute(index + 1)), {
          startedAt: minute(index),
          ...result,
        })
        attempts.push(settlement.attempt)
        yield* settle([settlement])
        const found = yield* delivery(claimed.id)
        same(found.attempts, attempts)
        same([found.delivery.lastResponseStatus, found.delivery.lastError], last[index])
      }
    }),
  )
}

export const settleContract = (test: ContractTest): void => {
  test.section("settle", () => {
    states(test)
  })
}
