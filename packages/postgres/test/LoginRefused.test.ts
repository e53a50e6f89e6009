import { isLoginRefused } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"

// An error of `pg` 8, which leaves the connection open. So a test can't get it from a server that it goes on to use.
const NO_PASSWORD = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string")

it("a refused login is distinguished from an unreachable server, however deep the error is wrapped", () => {
  assert.isTrue(isLoginRefused(new Error("1", { cause: new Error("2", { cause: NO_PASSWORD }) })))
  assert.isTrue(isLoginRefused(new Error("1", { cause: Object.assign(new Error("2"), { code: "28P01" }) })))
  assert.isTrue(isLoginRefused({ reason: { _tag: "AuthenticationError" } }))
  assert.isFalse(isLoginRefused(Object.assign(new Error("1"), { code: "ECONNREFUSED", syscall: "connect" })))
  assert.isFalse(isLoginRefused(Object.assign(new Error("1"), { code: "57P03" })))
})
