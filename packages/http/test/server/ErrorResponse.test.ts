/** The status of an error's class decides the answer. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fromError } from "../../src/server/ErrorResponse.ts"

class PlanNotFound extends Schema.TaggedError<PlanNotFound>()(
  "PlanNotFound",
  { id: Schema.String, field: Schema.optionalKey(Schema.String) },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `no plan has the id ${this.id}`
  }
}

class WithoutStatus extends Schema.TaggedError<WithoutStatus>()("WithoutStatus", {}) {}

describe("the answer to an error", () => {
  it("has the status and the code of its class, and the field's name in the API", () => {
    const { body, status } = fromError(new PlanNotFound({ id: "pln_1" }))
    assert.strictEqual(status, 404)
    assert.deepStrictEqual(JSON.parse(body), { error: "not_found", message: "no plan has the id pln_1" })
    const { body: named } = fromError(new PlanNotFound({ id: "pln_1", field: "items[3].planId" }))
    assert.deepStrictEqual(JSON.parse(named), {
      error: "not_found",
      message: "items[3].plan_id: no plan has the id pln_1",
    })
  })

  it("is 500 if the class has no status", () => {
    assert.throws(() => fromError(new WithoutStatus()), "WithoutStatus")
  })
})
