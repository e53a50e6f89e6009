/**
 * Names in documents must be those of the sources: errors, ports, ids, operations, commands, variables. A new name
 * that is not documented fails here, and so does a documented name that no longer exists.
 */
import { spawnSync } from "node:child_process"
import { globSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Billing, Resources } from "@billwright/core"
import { INVOICE_TRANSITIONS } from "@billwright/engine"
import { ErrorBody, makeOpenApiDocument } from "@billwright/http/api"
import { assert, describe, it } from "@effect/vitest"
import * as billwright from "billwright"
import { Context } from "effect"
import { node, read, root, section, table } from "./Documents.ts"
import { inWorkspace } from "./Examples.ts"

const find = (pattern: string): ReadonlyArray<string> => globSync(pattern, { cwd: root })
const plain = (cell: string): string => cell.replaceAll("`", "")
const rows = (path: string, heading: string, firstColumn: string) =>
  table(section(read(path), heading), firstColumn).map((row) => row.map(plain))

/** The members of a union of string literals in a source. */
const literalsOf = (path: string, start: RegExp): ReadonlyArray<string> => {
  const [, union = ""] = new RegExp(`${start.source}((?:\\s*\\|?\\s*"\\w+")+)`).exec(read(path)) ?? []
  return [...union.matchAll(/"(\w+)"/g)].map(([, literal = ""]) => literal)
}

const codeOfTag = (tag: string): string =>
  tag.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

describe("docs/concepts.md", () => {
  const keys = rows("docs/concepts.md", "Idempotency", "what")

  it("gives an idempotency key the scope of its index", () => {
    const columnsOf = (index: string) =>
      new RegExp(`CREATE UNIQUE INDEX ${index} [^(]*\\(([^)]*)\\)`)
        .exec(read("packages/postgres/schema.json"))?.[1]
        ?.split(", ")
    const owners: Readonly<Record<string, string>> = {
      "account_id, mode, customer_id": "of a customer",
      "account_id, mode": "of an account and mode",
    }
    for (const [what, index] of [
      ["a usage record", "usage_records_idempotency_key"],
      ["an event", "events_idempotency_key"],
    ]) {
      const columns = columnsOf(index!)
      assert.strictEqual(columns?.at(-1), "idempotency_key", index)
      const row = keys.find(([first]) => first === what)
      assert.strictEqual(row?.[1], `idempotencyKey, ${owners[columns?.slice(0, -1).join(", ") ?? ""]}`)
    }
  })

  it("says how long an event's key is valid, and no other page contradicts it", () => {
    assert.match(keys.find(([what]) => what === "an event")?.[2] ?? "", /until the event is .*pruned/)
    for (const path of [...find("docs/*.md"), ...find("packages/*/README.md"), "README.md"]) {
      assert.notMatch(read(path), /publishe?s? (an|the) event once, for ever/i, path)
    }
  })
})

describe("the order of encryption keys in a rotation", () => {
  it("is documented once, and a rolling restart survives it", () => {
    const pages = [...find("docs/*.md"), ...find("packages/*/README.md"), "README.md"]
    const steps = pages.flatMap((path) =>
      [...read(path).matchAll(/^\d\. .*\b(?:new key|rotate-encryption)\b.*$/gm)].map(([step]) => [
        path,
        step,
      ]),
    )
    assert.deepStrictEqual(
      steps.map(([path]) => path),
      ["docs/operations.md", "docs/operations.md", "docs/operations.md"],
    )
    // Keyring.test.ts of core tests the effect of each step on a pair of processes.
    assert.match(steps[0]?.[1] ?? "", /^1\. .*\*\*behind\*\* the old one, in every process/)
    assert.match(steps[1]?.[1] ?? "", /^2\. When every process runs with that, put the new key first/)
    assert.match(steps[2]?.[1] ?? "", /^3\. When every process runs with that, .*rotate-encryption/)
  })
})

describe("docs/errors.md", () => {
  const errors = "packages/billwright/src/errors"
  const calls = rows("docs/errors.md", "Errors of calls", "`code`")

  it("has every error of calls", () => {
    const others = literalsOf(`${errors}/BillingError.ts`, /_not_found`/)
    assert.isAtLeast(others.length, 18)
    const ofResources = Object.values(Resources.all).map(({ definition }) =>
      codeOfTag(definition.NotFound.identifier),
    )
    assert.sameMembers(
      calls.map(([code]) => code),
      [...ofResources, ...others],
    )
    for (const [code, , , advice = ""] of calls) assert.isAtLeast(advice.length, 20, code)
  })

  it("has every class, with its codes and its tag", () => {
    const sources = [...find(`${errors}/*.ts`), "packages/billwright/src/runtime/Failure.ts"]
      .map(read)
      .join("\n")
    const pairs = [
      ...sources.matchAll(/class (\w+) extends (?:(?!class )[\s\S])*?super\(\s*"(\w+)"/g),
      ...sources.matchAll(/new Errors\.(\w+)\("(\w+)"/g),
    ].map(([, name, code]) => `${code} ${name}`)
    const tags = [...sources.matchAll(/^ {2}(\w+): \([^)]*\) =>\s+new Errors\.(\w+)\(/gm)]
    assert.isAtLeast(tags.length, 5)
    // For the others, class and code follow from the tag.
    const core = find("packages/core/src/**/*.ts").map(read).join("\n")
    const named = calls.filter(([, , tag]) => tag !== "")
    const derived = named.filter(([, , tag]) => !tags.some(([, known]) => known === tag))
    assert.isAtLeast(derived.length, 5)
    for (const [code, name, tag = ""] of derived) {
      assert.match(core, new RegExp(`export (class ${tag} extends |const ${tag} = \\w+\\.NotFound)`))
      assert.strictEqual(code, codeOfTag(tag))
      const own = sources.includes(`class ${tag}Error `) ? `${tag}Error` : "ConflictError"
      assert.strictEqual(name, tag.startsWith("TooMany") ? "LimitReachedError" : own)
    }
    assert.includeMembers(
      calls.map(([code, name]) => `${code} ${name}`),
      pairs,
    )
    assert.includeMembers(
      pairs,
      calls
        .filter(([, name]) => name !== "LimitReachedError" && name !== "ConflictError")
        .map(([code, name]) => `${code} ${name}`),
    )
    assert.sameMembers(
      named.filter((row) => !derived.includes(row)).map(([, name, tag]) => `${tag} ${name}`),
      tags.map(([, tag, name]) => `${tag} ${name}`),
    )
  })

  it("has every exported class", () => {
    const { BillingError } = billwright
    const classes = Object.entries(billwright).flatMap(([name, value]) =>
      value === BillingError || Object.prototype.isPrototypeOf.call(BillingError, value) ? [name] : [],
    )
    const bases = ["BillingError", "NotFoundError", "ConflictError"]
    const named = new Set([...calls.map(([, name = ""]) => name), ...bases])
    assert.sameMembers([...named], classes)
  })

  it("has every error of the REST API with its status", () => {
    const all = Object.entries(ErrorBody.ERRORS).map(([code, { status }]) => [code, String(status)])
    const told = rows("docs/errors.md", "Errors of the REST API", "`error`")
    assert.deepStrictEqual(
      told.map((row) => row.slice(0, 2)),
      all,
    )
    const known = literalsOf("packages/billwright/src/client/ApiError.ts", /ApiErrorCode =/)
    assert.sameMembers(
      all.map(([code]) => code),
      [...known],
    )
  })

  it("has every error of the client", () => {
    const codes = literalsOf("packages/billwright/src/client/ApiError.ts", /readonly code:/)
    assert.deepStrictEqual(
      rows("docs/errors.md", "Errors of the client", "`code`").map(([code]) => code),
      [...codes],
    )
  })
})

describe("docs/invoices.md and docs/subscriptions.md", () => {
  it("have the actions that each status of an invoice allows", () => {
    const told = rows("docs/invoices.md", "States", "status").map(([status, , actions = ""]) => [
      status,
      actions
        .replace(/, which .*/, "")
        .replace("nothing", "")
        .split(", ")
        .filter(Boolean),
    ])
    const statuses = new Set(INVOICE_TRANSITIONS.flatMap(({ from, to }) => [from, to]))
    const allowed = [...statuses].map((status) => [
      status,
      INVOICE_TRANSITIONS.filter(({ from }) => from === status).map(({ action }) => action),
    ])
    assert.sameDeepMembers(told, allowed)
  })

  it("name every event that the library publishes about them, and every operation", () => {
    for (const [page, subject] of [
      ["docs/invoices.md", "invoice"],
      ["docs/subscriptions.md", "subscription"],
    ] as const) {
      const text = read(page)
      const published = [
        ...new Set(
          read(
            `packages/core/src/${subject}s/${subject === "invoice" ? "Invoice" : "Subscription"}Events.ts`,
          ).match(new RegExp(`"${subject}\\.\\w+"`, "g")),
        ),
      ]
      assert.isAtLeast(published.length, 5)
      for (const name of published) assert.include(text, `\`${name.slice(1, -1)}\``, page)
      const operations = Object.keys(makeOpenApiDocument()["paths"] as object).filter((path) =>
        path.startsWith(`/v1/${subject}s`),
      )
      assert.isAtLeast(operations.length, 4)
      for (const path of operations) assert.include(text, path.replace(/^.*\}(?=\/)/, ""), `${page}: ${path}`)
    }
  })
})

describe("documents", () => {
  const documents = [
    "README.md",
    "AGENTS.md",
    "packages/cli/README.md",
    "packages/billwright/README.md",
    ...find("docs/*.md"),
  ]
  const all = documents.map(read).join("\n")

  it("name every port that an adapter provides", () => {
    const ports = [...Billing.missingPorts(Context.empty())]
    assert.isAtLeast(ports.length, 8)
    assert.sameMembers(
      rows("docs/adapters.md", "The ports", "port").map(([port = ""]) => port),
      ports,
    )
  })

  it("explain every prefix of ids", () => {
    const sources = find("packages/{core,http}/src/**/*.ts").map(read).join("\n")
    // Ids of attempts are internal: an attempt is found by its delivery and number.
    const prefixes = [...sources.matchAll(/(?<!ATTEMPT)_ID_PREFIX = "(\w+)"/g)].map(
      ([, prefix]) => `${prefix}_`,
    )
    assert.isAtLeast(prefixes.length, 7)
    assert.sameMembers(
      rows("docs/concepts.md", "Ids", "prefix").map(([prefix]) => prefix),
      prefixes,
    )
  })

  it("name only variables that are read", () => {
    const sources = find("packages/{cli,postgres}/src/**/*.ts").map(read).join("\n")
    const names = new Set(all.match(/\b(BILLWRIGHT|DATABASE)_[A-Z_]+\b/g))
    assert.isAtLeast(names.size, 6)
    for (const name of names) assert.include(sources, `"${name}"`)
  })

  it("name every metric", () => {
    const sources = find("packages/*/src/**/*.ts").map(read).join("\n")
    const metrics = [...sources.matchAll(/Metric\.\w+\(\s*"(\w+)"/g)].map(([, name]) => name)
    assert.isAtLeast(metrics.length, 5)
    assert.sameMembers(
      rows("docs/operations.md", "Metrics", "metric").map(([name]) => name),
      metrics,
    )
  })

  it("name only operations that exist", () => {
    const { paths } = makeOpenApiDocument() as unknown as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    }
    const named = [...all.matchAll(/`(GET|POST|PATCH|DELETE) (\/v1\/[^`?]*)/g)]
    assert.isAtLeast(named.length, 8)
    for (const [, method = "", path = ""] of named)
      assert.property(paths[path] ?? {}, method.toLowerCase(), `${method} ${path}`)
  })

  it("and messages name only commands and flags that exist", { timeout: 60_000 }, () => {
    const sources = find("packages/{billwright,postgres,http,dashboard}/{src,app}/**/*.{ts,tsx}").map(read)
    const messages = sources.flatMap((source) => source.match(/\bnpx [^`"\n]*/g) ?? [])
    assert.isAtLeast(messages.length, 2)
    const flags = rows("docs/webhooks.md", "The dispatcher", "flag of `serve`")
    const typed = [all, ...messages, ...flags.map(([flag]) => `billwright serve ${flag}`)].join("\n")
    const commands = flagsOf(typed)
    assert.includeMembers([...commands.keys()], ["serve", "migrate", "keys issue", "listen", "trigger"])
    const helps = helpOf([...commands.keys()])
    for (const [index, [name, flags]] of [...commands].entries()) {
      const help = helps[index] ?? ""
      assert.include(help, `  billwright ${name} [flags]`)
      for (const flag of flags)
        assert.match(help, new RegExp(`^ +${flag.replace("--no-", "--")}(?![\\w-])`, "m"), name)
    }
  })

  it("and help name the same defaults of serve", { timeout: 60_000 }, () => {
    const [help = ""] = helpOf(["serve"])
    const flags = rows("packages/cli/README.md", "`billwright serve`", "flag")
    assert.isAtLeast(flags.length, 15)
    for (const [flag = "", value = ""] of flags) {
      const [name = ""] = flag.split(",")
      const line =
        help
          .split("\n")
          .find((each) => new RegExp(`^ +${name.replace("--no-", "--")}(?![\\w-])`).test(each)) ?? ""
      if (value !== "") assert.include(line, `Default: ${value}.`, name)
    }
  })

  it("name no command that npm doesn't know", () => {
    // The package `billwright` has no command, so npx would find nothing to run.
    const sources = find("packages/*/{src,app}/**/*.{ts,tsx}").map(read)
    assert.notMatch([all, ...sources].join("\n"), /npx billwright/)
  })
})

/** The commands in a text, each with the flags that it has anywhere. */
const flagsOf = (text: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const commands = new Map<string, Set<string>>()
  for (const [, line = ""] of text.matchAll(
    /(?:\bnpx @billwright\/cli(?:@\S+)?|(?:^|`|-postgres )billwright) ([a-z][^`")\n]*)/gm,
  )) {
    const words = line.split(/\s+/)
    const length =
      /^(keys|replay|audit|audit-log|books|customers|usage|meters|catalog|subscriptions|invoices|invoice-items|proofs|credit-notes|payments|coupons|entitlements|credits|token-usages|spend-alerts|clock)$/.test(
        words[0] ?? "",
      )
        ? 2
        : 1
    const flags = words.filter((word) => word.startsWith("--"))
    // A table may have several: `keys issue\|list`.
    for (const last of (words[length - 1] ?? "").split("\\|")) {
      const name = [...words.slice(0, length - 1), last].join(" ")
      commands.set(name, new Set([...(commands.get(name) ?? []), ...flags]))
    }
  }
  return commands
}

const helps = new Map<string, string>()

/** The output of `--help` for each command. One process prints all that is not known yet, because each takes seconds. */
const helpOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const unknown = names.filter((name) => !helps.has(name))
  if (unknown.length > 0)
    for (const [index, help] of printHelp(unknown).entries()) helps.set(unknown[index]!, help)
  return names.map((name) => helps.get(name) ?? "")
}

const printHelp = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  inWorkspace((folder) => {
    const file = join(folder, "help.ts")
    const code = `
import { billwright } from "@billwright/cli"
import { layer } from ${JSON.stringify(join(root, "packages/cli/src/NodeServices.ts"))}
import { Effect } from "effect"
import { Command } from "effect/cli"

for (const name of ${JSON.stringify(names)}) {
  const help = Command.runWith(billwright, { version: "0" })([...name.split(" "), "--help"])
  await Effect.runPromise(Effect.provide(help, layer))
  console.log("\\0")
}
`
    writeFileSync(file, code)
    const { stderr, stdout } = spawnSync(node, [file], { encoding: "utf8" })
    assert.strictEqual(stderr, "")
    return stdout.split("\0").slice(0, names.length)
  })
