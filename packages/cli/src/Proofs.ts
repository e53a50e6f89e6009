/**
 * `billwright proofs`: exports proofs of invoices, and checks them without a server.
 */
import { createReadStream } from "node:fs"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { ProofKey } from "@billwright/core"
import { type GivenProof, type VerifiedProofs, verifyProofs } from "@billwright/engine/proofs"
import { Console, Effect, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"
import { AuditFailed } from "./AuditFailed.ts"
import * as ProofKeys from "./ProofKeys.ts"
import { Misconfigured } from "./Store.ts"
import { json } from "./TenantFlags.ts"

const kind: Api.Kind = {
  noun: "a proof of an invoice",
  nouns: "proofs of invoices",
  path: "/invoice_proofs",
  prefix: "prf",
}

/** Proofs of one request. The server sends fewer where they are large. */
const PAGE = "100"

const exportAll = Command.make(
  "export",
  { url: Api.common.url },
  Effect.fn(function* () {
    const api = yield* ApiClient
    let last: string | undefined
    for (;;) {
      const query = { limit: PAGE, starting_after: last }
      const { value } = yield* api.get(kind.path, Api.ItemList, query)
      for (const proof of value.data) yield* Console.log(JSON.stringify(proof))
      last = value.data.at(-1)?.id
      if (!value.has_more || last === undefined) return
    }
  }),
).pipe(
  Command.withDescription("Print all proofs, newest first, as one line of JSON each (NDJSON)"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    { command: "billwright proofs export > proofs.ndjson", description: "Keep the proofs in a file" },
  ]),
)

const KeySet = Schema.fromJsonString(
  Schema.Struct({
    keys: Schema.Array(
      Schema.Struct({
        kty: Schema.String,
        crv: Schema.optionalKey(Schema.String),
        x: Schema.optionalKey(Schema.String),
      }),
    ),
  }),
)

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const unreadable = (file: string) => (error: unknown) =>
  new Misconfigured({ message: `${file} can't be read: ${reasonOf(error)}` })

const readKeys = Effect.fnUntraced(function* (file: string) {
  const text = yield* Effect.tryPromise({ try: () => readFile(file, "utf8"), catch: unreadable(file) })
  const notKeys = () =>
    new Misconfigured({ message: `${file} must be a JWK Set, as servers publish it at ${ProofKeys.PATH}` })
  return yield* Effect.mapError(Schema.decodeUnknownEffect(KeySet)(text), notKeys)
})

const proofOf = (line: string): GivenProof => {
  try {
    return JSON.parse(line) as GivenProof
  } catch {
    // What is not JSON is no proof, which is then reported with its place.
    return { document: "", signature: "", keyId: "" }
  }
}

/** The proofs of a file, one after another. */
async function* readProofs(file: string): AsyncGenerator<GivenProof> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (line.trim() !== "") yield proofOf(line)
  }
}

const END = /^([1-9]\d{0,14}):([0-9a-f]{64})$/

const endOf = (text: string) => {
  const [, position, hash] = END.exec(text) ?? []
  if (position === undefined || hash === undefined) throw new TypeError("not an end")
  return { position: Number(position), hash }
}

const includes = Flag.String("includes").pipe(
  Flag.withDescription(
    "The end of the series when it was checked before, as position:hash. It has to be among the proofs. Default: the end is not checked.",
  ),
  Flag.mapTryCatch(endOf, () => "expected a position, a colon and a hash of 64 digits, as verify prints it"),
  Flag.optional,
)

const describe = ({ end, first, linesComputed, linesRated, problems, proofs }: VerifiedProofs): string =>
  [
    ...problems.map(
      ({ number, path, problem }) => `${number === null ? "" : `${number}: `}${path} ${problem}`,
    ),
    `Read ${proofs} proofs${first === null || first === 1 ? "" : `, from position ${first}`}: ` +
      `${linesRated} lines were rated again, ${linesComputed} only computed again.`,
    ...(end === null ? [] : [`The last one is ${end.position}:${end.hash}`]),
  ].join("\n")

const toJson = ({
  end,
  first,
  hasMore,
  isValid,
  linesComputed,
  linesRated,
  ...rest
}: VerifiedProofs): string =>
  JSON.stringify(
    {
      is_valid: isValid,
      ...rest,
      has_more: hasMore,
      lines_rated: linesRated,
      lines_computed: linesComputed,
      first,
      end,
    },
    undefined,
    2,
  )

const verify = Command.make(
  "verify",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The file that export printed.")),
    keys: Flag.String("keys").pipe(
      Flag.withDescription(`A file with the public keys, as servers publish them at ${ProofKeys.PATH}.`),
    ),
    includes,
    json,
  },
  Effect.fn(function* (options) {
    const { file } = options
    const keys = yield* readKeys(options.keys)
    const verified = yield* Effect.tryPromise({
      try: () => verifyProofs(readProofs(file), { keys, includes: Option.getOrUndefined(options.includes) }),
      catch: unreadable(file),
    })
    yield* Console.log(options.json ? toJson(verified) : describe(verified))
    if (verified.isValid) return
    const { length } = verified.problems
    yield* new AuditFailed({ message: `${length}${verified.hasMore ? " or more" : ""} problems` })
  }),
).pipe(
  Command.withDescription(
    "Check proofs without a server: signatures, prices, sums, and that none is missing",
  ),
  Command.withExamples([
    {
      command: "billwright proofs verify proofs.ndjson --keys keys.json",
      description: "Check a file of proofs",
    },
  ]),
)

const publicKeys = Command.make(
  "keys",
  {},
  Effect.fn(function* () {
    yield* Console.log(ProofKeys.jwksOf(yield* ProofKeys.keys))
  }),
).pipe(Command.withDescription("Print the public keys of BILLWRIGHT_PROOF_KEYS, to publish them"))

const newKey = Command.make(
  "new-key",
  {},
  Effect.fn(function* () {
    yield* Console.log(Redacted.value(yield* ProofKey.generate))
  }),
).pipe(Command.withDescription("Print a new key for BILLWRIGHT_PROOF_KEYS"))

export const proofs = Command.make("proofs").pipe(
  Command.withDescription("Export and check proofs of invoices"),
  Command.withSubcommands([
    Api.getter(kind),
    Api.lister(kind, ["id", "number", "hash", "created_at"], {
      invoice_id: Api.optional("invoice", "Only the proof of this invoice. Default: all."),
    }),
    exportAll,
    verify,
    publicKeys,
    newKey,
  ]),
)
