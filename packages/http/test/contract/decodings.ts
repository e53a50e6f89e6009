/**
 * Prints a line for each generated request: its decoded query and body, or its error. The output is the same in every
 * run, except for the last line, which says how much code was compiled.
 */
import { Cause, Effect, Exit } from "effect"
import * as fc from "fast-check"
import { makeOpenApiDocument } from "../../src/api/OpenApiDocument.ts"
import * as Json from "../../src/server/Json.ts"
import * as Routes from "../../src/server/Routes.ts"
import { type GeneratedRequest, requestTo } from "../Generate.ts"
import { node, operationsOf } from "../Judge.ts"

const SEED = 1
const RUNS = 50

const toId = (text: string): string => text.replaceAll(/@([a-z]+):\d+/g, `$1_${"0".repeat(26)}`)

const parsed = (body: string | undefined): unknown => {
  try {
    return body === undefined ? undefined : Json.parse(toId(body))
  } catch {
    return undefined
  }
}

const decode = ({ body, method, path, query }: GeneratedRequest) =>
  Effect.gen(function* () {
    const { route } = yield* Routes.match(method, toId(path))
    return [
      yield* Effect.exit(route.decodeQuery(Object.fromEntries(query))),
      yield* Effect.exit(route.decodeBody(parsed(body))),
    ]
  })

const withBigints = (_key: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value)

const told = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)

let compiled = 0
globalThis.Function = new Proxy(Function, {
  apply: (compile, self, source) => {
    const code: unknown = Reflect.apply(compile, self, source)
    compiled++
    return code
  },
})

const document = node(makeOpenApiDocument())
for (const operation of operationsOf(document)) {
  for (const request of fc.sample(requestTo(document, operation), { seed: SEED, numRuns: RUNS })) {
    const exit = Effect.runSyncExit(decode(request))
    const outcome = Exit.isSuccess(exit) ? exit.value.map(told) : told(exit)
    process.stdout.write(`${JSON.stringify([operation.id, request.mutation, outcome], withBigints)}\n`)
  }
}
process.stdout.write(`${compiled}\n`)
