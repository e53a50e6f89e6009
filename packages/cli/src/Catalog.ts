/**
 * `billwright catalog`: plans and rate cards in files, over the API of a running server.
 */
import { Console, Data, Effect, Option, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { type Answer, ApiClient, type ApiFailure, ServerRefused, url } from "./ApiClient.ts"
import * as CatalogCosts from "./CatalogCosts.ts"
import * as PlanFile from "./PlanFile.ts"
import { PlansDiffer } from "./PlansDiffer.ts"
import * as Table from "./Table.ts"
import { json } from "./TenantFlags.ts"

/** The plans of a file are wrong. Each problem gets a line. */
export class PlansRefused extends Data.TaggedError("PlansRefused")<{
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return this.problems.join("\nbillwright: ")
  }
}

/** Most plans of a page of the API. */
const PAGE = 100

const Change = Schema.Struct({
  object: Schema.Literals(["plan_change", "rate_card_change"]),
  key: Schema.String,
  status: Schema.String,
  version: Schema.Int,
  changes: Schema.Array(Schema.Struct({ path: Schema.String, from: Schema.Unknown, to: Schema.Unknown })),
})
const Changes = Schema.Struct({ data: Schema.Array(Change) })

const Plan = Schema.Struct({
  id: Schema.String,
  key: Schema.String,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  terms: Schema.Record(Schema.String, Schema.Unknown),
})
const Card = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.String,
    key: Schema.String,
    name: Schema.NullOr(Schema.String),
    unit: Schema.String,
    decimals: Schema.NullOr(Schema.Number),
    markup: Schema.NullOr(Schema.String),
    models: Schema.Record(Schema.String, Schema.Unknown),
  }),
  [Schema.Record(Schema.String, Schema.Unknown)],
)
const listOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), has_more: Schema.Boolean })
const CardList = listOf(Card)
const PlanList = listOf(Plan)

const read = Argument.String("file").pipe(
  Argument.withDescription(
    "A .json file with plans and rate cards, or a TypeScript or JavaScript module that exports plans of definePlan and rate cards.",
  ),
)

const explained = (error: ApiFailure): ApiFailure | PlansRefused =>
  error instanceof ServerRefused && error.problems.length > 0
    ? new PlansRefused({ problems: error.problems.map(({ field, problem }) => `${field} ${problem}`) })
    : error

const KINDS = { plan_change: "plan", rate_card_change: "rate card" } as const

const valueText = (value: unknown): string => {
  if (value === null) return "-"
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** A row for each field that differs. What is created or unchanged has one row. */
const rowsOf = ({ changes, key, object, status, version }: typeof Change.Type) => {
  const row = [key, KINDS[object], status, String(version)]
  if (status !== "changed" || changes.length === 0) return [[...row, "-", "-", "-"]]
  return changes.map(({ from, path, to }) => [...row, path, valueText(from), valueText(to)])
}

const tableOf = ({ data }: typeof Changes.Type): string =>
  Table.render(["KEY", "KIND", "STATUS", "VERSION", "FIELD", "FROM", "TO"], data.flatMap(rowsOf))

const send = Effect.fnUntraced(function* (file: string, path: string, asJson: boolean) {
  const { plans, rate_cards } = yield* PlanFile.read(file)
  const api = yield* ApiClient
  const body = {
    ...(plans.length === 0 ? {} : { plans }),
    ...(rate_cards.length === 0 ? {} : { rate_cards }),
  }
  const answer: Answer<typeof Changes.Type> = yield* Effect.mapError(
    api.post(path, Changes, JSON.stringify(body)),
    explained,
  )
  yield* Console.log(asJson ? answer.text : tableOf(answer.value))
  return answer.value.data.some(({ status }) => status !== "unchanged")
})

const diff = Command.make(
  "diff",
  { file: read, url, json, ...CatalogCosts.flags },
  Effect.fn(function* (options) {
    if (Option.isSome(options.months)) return yield* CatalogCosts.compare(options, options.months.value)
    const isDifferent = yield* send(options.file, "/catalog/diff", options.json).pipe(
      Effect.provide(ApiClient.layer({ url: options.url })),
    )
    if (isDifferent) return yield* new PlansDiffer()
  }),
).pipe(
  Command.withDescription(
    "Print what a push would change, and change nothing. The exit code is 2 if it would change something. With --months, print what it means in money instead, from the database",
  ),
  Command.withExamples([
    { command: "billwright catalog diff plans.ts", description: "Fail in CI when plans are not pushed" },
    {
      command: "billwright catalog diff plans.ts --months 3 --mode live --store postgres --max-rise 5%",
      description: "Rate the last three months by the new plans, and fail if it is more than 5 % dearer",
    },
  ]),
)

const push = Command.make(
  "push",
  { file: read, url, json },
  Effect.fn(function* ({ file, json: asJson }) {
    yield* send(file, "/catalog/push", asJson)
  }),
).pipe(
  Command.withDescription(
    "Store the plans and rate cards of a file, all of them or none, and print what has changed",
  ),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    { command: "billwright catalog push plans.ts", description: "Publish the plans of a module" },
  ]),
)

/** Every stored value, sorted by key. */
const stored = <A extends { readonly id: string; readonly key: string }>(
  path: string,
  as: Schema.Codec<{ readonly data: ReadonlyArray<A>; readonly has_more: boolean }, unknown>,
  filter: Readonly<Record<string, string>> = {},
) =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const all: Array<A> = []
    for (;;) {
      const query = { ...filter, limit: String(PAGE), starting_after: all.at(-1)?.id }
      const { value } = yield* api.get(path, as, query)
      all.push(...value.data)
      if (!value.has_more) return all.sort((a, b) => (a.key < b.key ? -1 : 1))
    }
  })

/** The fields that have a value. */
const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const pull = Command.make(
  "pull",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("The .json file to write. An existing file is replaced."),
    ),
    url,
    json,
  },
  Effect.fn(function* ({ file, json: asJson }) {
    const plans = yield* stored("/plans", PlanList)
    const cards = yield* stored("/rate_cards", CardList, { status: "current" })
    yield* PlanFile.write(file, {
      plans: plans.map(({ description, key, name, terms }) => given({ key, name, description, ...terms })),
      rate_cards: cards.map(({ decimals, key, markup, models, name, unit }) =>
        given({ key, name, unit, decimals, markup, models }),
      ),
    })
    const pulled = { file, plans: plans.map(({ key }) => key), rate_cards: cards.map(({ key }) => key) }
    yield* Console.log(
      asJson
        ? JSON.stringify(pulled)
        : Table.fields({
            file,
            plans: pulled.plans.join(", ") || "-",
            "rate cards": pulled.rate_cards.join(", ") || "-",
          }),
    )
  }),
).pipe(
  Command.withDescription("Write the newest versions of all stored plans and rate cards to a JSON file"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Compare, push and pull plans and rate cards"),
  Command.withSubcommands([diff, push, pull]),
)
