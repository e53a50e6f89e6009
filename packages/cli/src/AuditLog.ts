/**
 * `billwright audit-log`: who changed what, over the API of a running server.
 */
import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const kind: Api.Kind = { noun: "an audit record", nouns: "audit records", path: "/audit_log", prefix: "aud" }
/** Records of one request of an export. */
const EXPORT_PAGE = 100

const filters = {
  object_id: Api.optional("object", "Only changes of the object with this id. Default: all."),
  actor_id: Api.optional("actor", "Only changes by this actor, such as the id of a key. Default: all."),
  action: Api.optional("action", "Only changes of this kind, such as customer.updated. Default: all."),
  created_after: Api.optional("since", "Only changes at this instant or later. Default: all."),
  created_before: Api.optional("before", "Only changes before this instant. Default: all."),
}

const exportAll = Command.make(
  "export",
  { filters, url: Api.common.url },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const asked = Object.entries(options.filters).map(
      ([name, value]) => [name, Option.getOrUndefined(value)] as const,
    )
    let cursor: string | undefined
    for (;;) {
      const query = { limit: String(EXPORT_PAGE), starting_after: cursor, ...Object.fromEntries(asked) }
      const { value } = yield* api.get(kind.path, Api.ItemList, query)
      if (value.data.length > 0)
        yield* Console.log(value.data.map((record) => JSON.stringify(record)).join("\n"))
      cursor = value.data.at(-1)?.id
      if (!value.has_more || cursor === undefined) return
    }
  }),
).pipe(
  Command.withDescription("Print all audit records as lines of JSON, newest first"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const auditLog = Command.make("audit-log").pipe(
  Command.withDescription("Show and export who changed what"),
  Command.withSubcommands([
    Api.lister(kind, ["id", "created_at", "action", "object_id", "actor_type", "actor_id", "ip"], filters),
    Api.getter(kind),
    exportAll,
  ]),
)
