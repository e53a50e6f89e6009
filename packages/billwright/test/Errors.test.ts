/** Errors of the domain without their own public class. Their status decides the class, and their tag decides the code. */
import { ConflictError, InternalError, LimitReachedError, NotFoundError } from "billwright"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { toBillingError } from "../src/runtime/Failure.ts"

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
