import { isLoginRefused } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"

// Of `pg` 8, which leaves the connection open: it can't be had from a server that a test wants to go on with.
const NO_PASSWORD = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string")

it("a login that is refused is told from a server out of reach, however it is wrapped", () => {
  assert.isTrue(isLoginRefused(new Error("1", { cause: new Error("2", { cause: NO_PASSWORD }) })))
  assert.isTrue(isLoginRefused(new Error("1", { cause: Object.assign(new Error("2"), { code: "28P01" }) })))
  assert.isTrue(isLoginRefused({ reason: { _tag: "AuthenticationError" } }))
  assert.isFalse(isLoginRefused(Object.assign(new Error("1"), { code: "ECONNREFUSED", syscall: "connect" })))
  assert.isFalse(isLoginRefused(Object.assign(new Error("1"), { code: "57P03" })))
})
