/**
 * The contract of `UsageStore.list`.
 */
import { type Page, UsageStore } from "@billwright/core"
import { DateTime, Effect } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, same, times } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"
import { append, newCustomer, stored } from "./UsageProbe.ts"

const firstPage: Page.PageQuery = { limit: 100, cursor: undefined }

export const usageListContract = (test: ContractTest): void => {
  test.section("list", () => {
    const paged = (filter: { readonly productId: string | undefined; readonly unit: string | undefined }) =>
      Effect.gen(function* () {
        const store = yield* UsageStore
        const customerId = yield* newCustomer
        const bystander = yield* newCustomer
        const list = (page: Page.PageQuery) =>
          Effect.map(store.list({ customerId, ...filter }, page), ({ data, hasMore }) => ({
            data: data.map(({ id }) => id),
            hasMore,
          }))
        // Timestamps fall while ids rise: the list must be in the order of ids.
        const add = Effect.fnUntraced(function* (count: number) {
          const ids: Array<string> = []
          for (const index of times(count, (n) => n)) {
            const timestamp = DateTime.subtract(Sample.CREATED_AT, { days: index })
            if (filter.productId !== undefined) yield* append(customerId, [{ productId: "another" }])
            if (filter.unit !== undefined) yield* append(customerId, [{ unit: "another" }])
            const [record] = yield* append(customerId, [{ timestamp }])
            ids.push(record!.id)
            yield* append(bystander, [{}])
          }
          return ids
        })
        return { add, list, unknownId: Sample.usageRecordId }
      })

    test.section("of a customer", () =>
      pagingContract(test, paged({ productId: undefined, unit: undefined })),
    )
    test.section("of a product", () => pagingContract(test, paged({ productId: "api", unit: undefined })))
    test.section("of a unit", () => pagingContract(test, paged({ productId: undefined, unit: "call" })))
    test.section("of a meter", () => pagingContract(test, paged({ productId: "api", unit: "call" })))

    test(
      "filters by exact product and unit, over all meters",
      Effect.gen(function* () {
        const store = yield* UsageStore
        const customerId = yield* newCustomer
        const [a, b, c, d] = yield* append(customerId, [
          { productId: "api", unit: "call" },
          { productId: "api", unit: "byte" },
          { productId: "storage", unit: "byte" },
          { productId: "api", unit: "call" },
        ])
        const list = (productId: string | undefined, unit: string | undefined) =>
          Effect.map(store.list({ customerId, productId, unit }, firstPage), ({ data }) => data)
        same(yield* list("api", undefined), [d, b, a])
        same(yield* list(undefined, "byte"), [c, b])
        same(yield* list("api", "call"), [d, a])
        same(yield* list("storage", "call"), [])
        same(yield* list("API", undefined), [])
      }),
    )

    test(
      "accepts the id of a record that does not match the filter as cursor",
      Effect.gen(function* () {
        const store = yield* UsageStore
        const customerId = yield* newCustomer
        const [a, b, c] = yield* append(customerId, [{}, { productId: "storage" }, {}])
        const filter = { customerId, productId: "api", unit: undefined }
        const cursor = (direction: "older" | "newer") => ({ limit: 5, cursor: { direction, id: b!.id } })
        same(yield* store.list(filter, cursor("older")), { data: [a], hasMore: false })
        same(yield* store.list(filter, cursor("newer")), { data: [c], hasMore: false })
      }),
    )

    test(
      "lists voided records at their place",
      Effect.gen(function* () {
        const store = yield* UsageStore
        const customerId = yield* newCustomer
        const [a, b, c] = yield* append(customerId, [{}, {}, {}])
        const voided = { ...b!, voidedAt: Sample.CREATED_AT }
        yield* store.void(b!.id, Sample.CREATED_AT)
        const filter = { customerId, productId: undefined, unit: undefined }
        same(yield* store.list(filter, firstPage), { data: [c, voided, a], hasMore: false })
        const page = { limit: 1, cursor: { direction: "older", id: c!.id } } as const
        same(yield* store.list(filter, page), { data: [voided], hasMore: true })
      }),
    )

    test(
      "filters by what counts in a period: its instants, records that are not voided, and the lack of a dimension",
      Effect.gen(function* () {
        const store = yield* UsageStore
        const customerId = yield* newCustomer
        const start = Sample.CREATED_AT.epochMilliseconds
        const at = (millis: number) => ({
          timestamp: DateTime.add(Sample.CREATED_AT, { milliseconds: millis }),
        })
        const [, first, voided, last] = yield* append(customerId, [
          at(-1),
          at(0),
          at(1),
          { ...at(999), dimensions: { region: "eu" } },
          at(1_000),
          { ...at(2), productId: "storage" },
        ])
        yield* store.void(voided!.id, Sample.CREATED_AT)
        const period = { start, end: start + 1_000 }
        const list = (counted: typeof period & { readonly lacking?: string }, limit = 100) =>
          store.list({ customerId, productId: "api", unit: undefined, counted }, { limit, cursor: undefined })
        same((yield* list(period)).data, [last, first])
        same(yield* list(period, 1), { data: [last], hasMore: true })
        same((yield* list({ ...period, lacking: "region" })).data, [first])
        same((yield* list({ ...period, lacking: "model" })).data, [last, first])
        same((yield* list({ start, end: start })).data, [])
      }),
    )

    test(
      "orders by id, in any order of insertion",
      Effect.gen(function* () {
        const store = yield* UsageStore
        const customerId = yield* newCustomer
        const [a, b, c] = yield* Effect.all([
          Sample.record(customerId, {}),
          Sample.record(customerId, {}),
          Sample.record(customerId, {}),
        ])
        yield* store.append([c])
        yield* store.append([b, a])
        const filter = { customerId, productId: undefined, unit: undefined }
        same((yield* store.list(filter, firstPage)).data, [c, b, a].map(stored))
        same(yield* store.find(a.id), yield* Effect.asSome(Effect.succeed(stored(a))))
      }),
    )
  })
}
