/**
 * `billwright clock`: test clocks, over the API of a running server.
 */
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"
import * as Progress from "./Progress.ts"

const kind: Api.Kind = { noun: "a test clock", nouns: "test clocks", path: "/test_clocks", prefix: "clk" }

const Clock = Schema.StructWithRest(Schema.Struct({ now: Schema.String, status: Schema.String }), [Api.Shown])

const create = Command.make(
  "create",
  {
    name: Api.optional("name", "A name for people."),
    now: Api.optional("now", "The time at which it stands at first. Default: now."),
    ...Api.common,
  },
  Effect.fn(function* ({ json, name, now }) {
    yield* Api.send(kind.path, { name, now }, json)
  }),
).pipe(
  Command.withDescription("Create a test clock, for customers that are created with it. Only in test mode"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

/** Each call does a part of what is due. The server says when there is no more. */
const advanceTo = Effect.fnUntraced(function* (id: string, to: string) {
  const api = yield* ApiClient
  const progress = Progress.make((now: string) => `the clock stands at ${now}`)
  for (;;) {
    const answer = yield* api.post(Api.pathOf(kind, id, "/advance"), Clock, JSON.stringify({ to }))
    if (answer.value.status === "ready") return answer
    yield* progress(answer.value.now)
  }
})

const advance = Command.make(
  "advance",
  {
    id: Api.idOf(kind),
    to: Flag.String("to").pipe(Flag.withDescription("The instant to advance to: 2027-01-01T00:00:00Z")),
    ...Api.common,
  },
  Effect.fn(function* ({ id, json, to }) {
    const { text, value } = yield* advanceTo(id, to)
    yield* Console.log(json ? text : `${id} stands at ${value.now}. What was due on the way is done.`)
  }),
).pipe(
  Command.withDescription("Advance a test clock, and do what is due for its customers on the way"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright clock advance clk_… --to 2027-01-01T00:00:00Z",
      description: "Renew, issue and collect what is due until then",
    },
  ]),
)

export const clock = Command.make("clock").pipe(
  Command.withDescription("Create and advance test clocks"),
  Command.withSubcommands([
    create,
    Api.getter(kind),
    Api.lister(kind, ["id", "name", "status", "now", "advancing_to"], {
      status: Api.optional("status", "Only test clocks with this status: ready or advancing. Default: all."),
    }),
    advance,
    Api.remover(kind, "deleted", {
      name: "delete",
      description: "Delete a test clock that has no customers any more",
    }),
  ]),
)
