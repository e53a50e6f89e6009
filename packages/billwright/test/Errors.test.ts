/** Errors of the domain without their own public class. Their status decides the class, and their tag decides the code. */
import { Resources } from "@billwright/core"
import {
  type BillingErrorCode,
  ConflictError,
  CustomerNotFoundError,
  InternalError,
  InvalidInputError,
  LimitReachedError,
  NotFoundError,
  ThresholdNotFoundError,
} from "billwright"
import { createTestBilling } from "billwright/testing"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { toBillingError } from "../src/runtime/Failure.ts"
import { rejection } from "./Rejection.ts"

class PlanNotFound extends Schema.TaggedError<PlanNotFound>()(
  "PlanNotFound",
  { id: Schema.String },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `no plan has the id ${this.id}`
  }
}

class PlanIsArchived extends Schema.TaggedError<PlanIsArchived>()(
  "PlanIsArchived",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "the plan is archived"
  }
}

class TooManyPlans extends Schema.TaggedError<TooManyPlans>()("TooManyPlans", {}, { httpApiStatus: 409 }) {}

class WithoutStatus extends Schema.TaggedError<WithoutStatus>()("WithoutStatus", {}) {}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

describe("the error for the id of a resource", () => {
  it("has a code, a class and a message that follow from the definition", () => {
    const codes: ReadonlyArray<BillingErrorCode> = ["customer_not_found", "threshold_not_found"]
    const made = Object.entries(Resources.all).map(([name, { definition }]) => {
      const failure = new definition.NotFound({ id: "id_1", field: "records[3].id" })
      const error = toBillingError(failure)
      assert.instanceOf(error, NotFoundError)
      assert.strictEqual(error.message, `no ${definition.noun} has the id id_1`)
      assert.strictEqual(error.cause, failure)
      assert.deepInclude({ ...error } as object, { id: "id_1", field: "records[3].id" })
      assert.strictEqual(error.code, `${snake(name.slice(0, -1))}_not_found`, "as the type of codes says")
      return error
    })
    assert.includeMembers(
      made.map(({ code }) => code),
      [...codes],
    )
    assert.instanceOf(
      made.find(({ code }) => code === "customer_not_found"),
      CustomerNotFoundError,
    )
    assert.instanceOf(
      made.find(({ code }) => code === "threshold_not_found"),
      ThresholdNotFoundError,
    )
  })
})

describe("an error of the domain without its own public class", () => {
  it("is a NotFoundError with its id for 404", () => {
    const failure = new PlanNotFound({ id: "pln_1" })
    const error = toBillingError(failure)
    assert.instanceOf(error, NotFoundError)
    assert.deepInclude({ ...error } as object, { code: "plan_not_found", id: "pln_1" })
    assert.strictEqual(error.message, "no plan has the id pln_1")
    assert.strictEqual(error.cause, failure)
  })

  it("is a ConflictError or a LimitReachedError for 409", () => {
    const archived = toBillingError(new PlanIsArchived())
    assert.instanceOf(archived, ConflictError)
    assert.notInstanceOf(archived, LimitReachedError)
    assert.deepInclude(
      { code: archived.code as string, message: archived.message },
      { code: "plan_is_archived", message: "the plan is archived" },
    )
    assert.instanceOf(toBillingError(new TooManyPlans()), LimitReachedError)
  })

  it("is an InternalError if it has no status", () => {
    assert.instanceOf(toBillingError(new WithoutStatus()), InternalError)
    assert.instanceOf(toBillingError(new TypeError("no")), InternalError)
  })
})

describe("a promise where a value belongs", () => {
  it("is called that: mostly an await is missing", async () => {
    await using billing = await createTestBilling()
    const customer = billing.testing.customer()
    const usage = { productId: "api", quantity: 1, unit: "call" }
    for (const [call, field] of [
      [billing.usage.record({ ...usage, customerId: customer as never }), "customerId"],
      [billing.subscriptions.create({ customerId: customer as never, plan: "pro" }), "customerId"],
      [billing.customers.get(customer as never), "id"],
      [billing.invoices.get(customer as never), "id"],
    ] as const) {
      const refused = await rejection(call)
      assert.instanceOf(refused, InvalidInputError)
      assert.strictEqual(refused.message, `${field} is a promise: its await is missing`)
    }
    await customer
  })
})
