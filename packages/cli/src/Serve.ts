/**
 * `billwright serve`: the REST API as a program.
 */
import { Billing } from "@billwright/core"
import { Server } from "@billwright/http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { Config, Console, Effect, Layer, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as FirstKeys from "./FirstKeys.ts"
import * as Store from "./Store.ts"

const DEFAULT_PORT = 4100
const MAX_PORT = 65_535

const port = Flag.Int("port").pipe(
  Flag.withAlias("p"),
  Flag.withDescription(`Port to listen on; 0 picks a free one. Default: PORT, or ${DEFAULT_PORT}.`),
  Flag.withFallbackConfig(Config.Int("PORT").pipe(Config.withDefault(DEFAULT_PORT))),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_PORT }))),
)

const host = Flag.String("host").pipe(
  Flag.withDescription("Address to listen on. 0.0.0.0 is every address of this machine."),
  Flag.withDefault("127.0.0.1"),
)

const migrate = Flag.Boolean("migrate").pipe(
  Flag.withDescription("Bring the Postgres schema up to date first. --no-migrate runs no DDL."),
  Flag.withDefault(true),
)

const firstRequest = (url: string, secret: string): string =>
  [
    "Create the first customer:",
    `  curl ${url}/v1/customers \\`,
    `    -H "Authorization: Bearer ${secret}" \\`,
    `    -H "Content-Type: application/json" \\`,
    `    -d '{"name": "Ada Lovelace", "email": "ada@example.com"}'`,
  ].join("\n")

const announce = (url: string, keys: ReadonlyArray<FirstKeys.FirstKey>): ReadonlyArray<string> => {
  const test = keys.find(({ mode }) => mode === "test")
  return [
    `Billwright listening on ${url}`,
    ...keys.map(({ mode, secret }) => `${mode} key  ${secret}`),
    ...(keys.length === 0 ? [] : ["These keys are shown this once: keep them."]),
    ...(test === undefined ? [] : ["", firstRequest(url, test.secret)]),
    "",
    `API reference: ${url}/docs`,
  ]
}

export const serve = Command.make(
  "serve",
  { port, host, ...Store.flags, migrate },
  Effect.fn(function* (options) {
    const server = yield* Server.make()
    const context = yield* Effect.context<never>()
    const listening = yield* NodeServer.listen(NodeHandler.make(server, context), options)
    for (const line of announce(listening.url, yield* FirstKeys.ensure)) yield* Console.log(line)
    return yield* Effect.never
  }, Effect.scoped),
).pipe(
  Command.withDescription("Serve the REST API"),
  Command.provide((options) => Billing.layer.pipe(Layer.provideMerge(Store.layer(options)))),
  Command.withExamples([
    {
      command: "billwright serve",
      description: "Serve on http://127.0.0.1:4100, with the data in .billwright",
    },
    { command: "billwright serve --port 0 --store memory", description: "Serve on a free port, in memory" },
    {
      command: "DATABASE_URL=postgres://… billwright serve --store postgres",
      description: "Serve from your Postgres",
    },
  ]),
)
