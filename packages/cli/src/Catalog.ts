/**
 * `billwright catalog`: plans in files, over the API of a running server. All commands print JSON.
 */
import { Console, Data, Effect, Runtime, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { type Answer, ApiClient, type ApiFailure, ServerRefused, url } from "./ApiClient.ts"
import * as PlanFile from "./PlanFile.ts"

/** The plans of a file are wrong. Each problem gets a line. */
export class PlansRefused extends Data.TaggedError("PlansRefused")<{
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return this.problems.join("\nbillwright: ")
  }
}

/** A push would change something. What it would change was printed. */
export class PlansDiffer extends Data.TaggedError("PlansDiffer")<{}> {
  override readonly message = "a push would change plans"
  override readonly [Runtime.errorReported] = false
}

/** The exit code of `catalog diff` when a push would change something. */
export const DIFFERS = 2
/** Most plans of a page of the API. */
const PAGE = 100

const Changes = Schema.Struct({ data: Schema.Array(Schema.Struct({ status: Schema.String })) })

const Plan = Schema.Struct({
  id: Schema.String,
  key: Schema.String,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  terms: Schema.Record(Schema.String, Schema.Unknown),
})
const PlanList = Schema.Struct({ data: Schema.Array(Plan), has_more: Schema.Boolean })

const read = Argument.String("file").pipe(
  Argument.withDescription(
    "A .json file with plans, or a TypeScript or JavaScript module that exports plans of definePlan.",
  ),
)

const explained = (error: ApiFailure): ApiFailure | PlansRefused =>
  error instanceof ServerRefused && error.problems.length > 0
    ? new PlansRefused({ problems: error.problems.map(({ field, problem }) => `${field} ${problem}`) })
    : error

const send = Effect.fnUntraced(function* (file: string, path: string) {
  const plans = yield* PlanFile.read(file)
  const api = yield* ApiClient
  const answer: Answer<typeof Changes.Type> = yield* Effect.mapError(
    api.post(path, Changes, JSON.stringify({ plans })),
    explained,
  )
  yield* Console.log(answer.text)
  return answer.value.data.some(({ status }) => status !== "unchanged")
})

const diff = Command.make(
  "diff",
  { file: read, url },
  Effect.fn(function* ({ file }) {
    if (yield* send(file, "/catalog/diff")) return yield* new PlansDiffer()
  }),
).pipe(
  Command.withDescription(
    "Print what a push would change, and change nothing. The exit code is 2 if it would change something",
  ),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    { command: "billwright catalog diff plans.ts", description: "Fail in CI when plans are not pushed" },
  ]),
)

const push = Command.make(
  "push",
  { file: read, url },
  Effect.fn(function* ({ file }) {
    yield* send(file, "/catalog/push")
  }),
).pipe(
  Command.withDescription("Store the plans of a file, all of them or none, and print what has changed"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    { command: "billwright catalog push plans.ts", description: "Publish the plans of a module" },
  ]),
)

/** Every stored plan, sorted by key. */
const stored = Effect.gen(function* () {
  const api = yield* ApiClient
  const plans: Array<typeof Plan.Type> = []
  for (;;) {
    const query = { limit: String(PAGE), starting_after: plans.at(-1)?.id }
    const { value } = yield* api.get("/plans", PlanList, query)
    plans.push(...value.data)
    if (!value.has_more) return plans.sort((a, b) => (a.key < b.key ? -1 : 1))
  }
})

const pull = Command.make(
  "pull",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("The .json file to write. An existing file is replaced."),
    ),
    url,
  },
  Effect.fn(function* ({ file }) {
    const plans = yield* stored
    yield* PlanFile.write(
      file,
      plans.map(({ description, key, name, terms }) => ({
        key,
        name,
        ...(description === null ? {} : { description }),
        ...terms,
      })),
    )
    yield* Console.log(JSON.stringify({ file, plans: plans.map(({ key }) => key) }))
  }),
).pipe(
  Command.withDescription("Write the newest versions of all stored plans to a JSON file"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Compare, push and pull plans"),
  Command.withSubcommands([diff, push, pull]),
)
