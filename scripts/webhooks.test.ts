import { spawnSync } from "node:child_process"
import { createHmac, randomBytes } from "node:crypto"
import { once } from "node:events"
import { globSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
/**
 * Tests docs/webhooks.md: its diagram and tables must match the code, its numbers must match named constants, and its
 * examples must work. docs.test.ts tests what all documents have (links, TypeScript).
 */
import {
  Delivery,
  DeliveryMachine,
  Endpoint,
  EndpointUrl,
  Event,
  EventCatalogue,
  type EventId,
  RetryPolicy,
  type Tenant,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { verify, WebhookVerificationError } from "billwright/verify"
import { DateTime } from "effect"
import { blocks, read, root, section, startPostgres, startServer, table, withoutBlocks } from "./Documents.ts"
import { inWorkspace, runExample } from "./Examples.ts"
import { Terminal } from "./Terminal.ts"

const text = read("docs/webhooks.md")
const plain = (cell: string): string => cell.replaceAll("`", "")

type State = DeliveryMachine.DeliveryState
type Happening = DeliveryMachine.DeliveryEvent

const NOW = Date.parse("2026-11-21T12:00:00.000Z")
const modes: ReadonlyArray<Tenant.Mode> = ["live", "test"]

/** One state of each kind. A new kind that is missing here doesn't compile. */
const happenings: { readonly [Tag in Happening["_tag"]]: Extract<Happening, { readonly _tag: Tag }> } = {
  Succeeded: { _tag: "Succeeded" },
  AttemptFailed: { _tag: "AttemptFailed", notBefore: undefined },
  Gone: { _tag: "Gone" },
  Lost: { _tag: "Lost" },
  EndpointDisabled: { _tag: "EndpointDisabled" },
  EndpointDeleted: { _tag: "EndpointDeleted" },
  Unreadable: { _tag: "Unreadable" },
}

/** The new state of a delivery: status, reason, when it is due. */
const outcomeOf = (state: State, backOff: number): string => {
  if (state.status !== "Pending") return `${state.status} ${"reason" in state ? state.reason : "—"} —`
  if (state.dueAt === NOW) return "Pending — now"
  assert.strictEqual(state.dueAt, NOW + backOff)
  return "Pending — after the back-off"
}

/**
 * Every transition of the machine, from every number of attempts, as "event → outcome". The first transition is
 * written here: storage creates deliveries, and the contract suite tests that.
 */
const transitions = (): ReadonlySet<string> => {
  const found = new Set(["published, replayed → Pending — now"])
  for (const mode of modes) {
    const policy = RetryPolicy.defaults[mode]
    for (const event of Object.values(happenings)) {
      const outcomes = Array.from({ length: policy.maxAttempts + 1 }, (_, attemptCount) => {
        const state = { status: "Pending", attemptCount, dueAt: NOW - 1 } as const
        const after = DeliveryMachine.next(state, event, { policy, now: NOW, random: 0.5 })
        return outcomeOf(after, RetryPolicy.delayMillis(policy, after.attemptCount, 0.5))
      })
      const depends = new Set(outcomes).size > 1
      for (const outcome of outcomes) {
        const condition = outcome.startsWith("Pending") ? ", attempts left" : ", none left"
        found.add(`${event._tag}${depends ? condition : ""} → ${outcome}`)
      }
    }
  }
  return found
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** 5119000 as `1 h 25 min 19 s`. */
const duration = (millis: number): string => {
  const parts = [
    [Math.floor(millis / HOUR), "h"],
    [Math.floor((millis % HOUR) / MINUTE), "min"],
    [(millis % MINUTE) / SECOND, "s"],
  ] as const
  const shown = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount} ${unit}`)
  return shown.length === 0 ? "0 s" : shown.join(" ")
}

describe("docs/webhooks.md: deliveries", () => {
  const deliveries = section(text, "Deliveries")

  it("draws all transitions of the machine, and no others", () => {
    const [diagram = ""] = blocks(deliveries, "mermaid")
    const drawn = [...diagram.matchAll(/^ +(\S+) --> (\w+): (.+)$/gm)].map(
      ([, from, to, label]) => `${from} ${label} → ${to}`,
    )
    const known = [...transitions()].map((transition) => {
      const [label = "", outcome = ""] = transition.split(" → ")
      return `${label.startsWith("published") ? "[*]" : "Pending"} ${label} → ${outcome.split(" ")[0]}`
    })
    assert.deepStrictEqual(drawn.toSorted(), known.toSorted())
    const ends = [...diagram.matchAll(/^ +(\w+) --> \[\*\]$/gm)].map(([, from]) => from)
    assert.deepStrictEqual(ends, ["Delivered", "Failed"])
    // The diagram contains nothing else.
    assert.lengthOf(diagram.trim().split("\n"), 1 + drawn.length + ends.length)
  })

  it("lists for each transition the status, the reason and when it is due", () => {
    const rows = table(deliveries, "event").map((row) => {
      const [event = "", , status, reason, due] = row.map(plain)
      return `${event} → ${status} ${reason} ${due}`
    })
    assert.deepStrictEqual(rows.toSorted(), [...transitions()].toSorted())
  })

  it("says that Delivered and Failed are final", () => {
    const finals: ReadonlyArray<State> = [
      { status: "Delivered", attemptCount: 1 },
      ...Delivery.failureReasons.map((reason): State => ({ status: "Failed", attemptCount: 1, reason })),
    ]
    for (const state of finals)
      for (const event of Object.values(happenings))
        assert.strictEqual(
          DeliveryMachine.next(state, event, { policy: RetryPolicy.live, now: NOW, random: 0.5 }),
          state,
        )
    assert.deepStrictEqual(Delivery.DeliveryStatus.literals, ["Pending", "Delivered", "Failed"])
  })

  it("has the computed schedules", () => {
    const columns = modes.map((mode) => {
      const policy = RetryPolicy.defaults[mode]
      assert.strictEqual(policy.jitter, 0.2) // "±20 %"
      let since = 0
      return Array.from({ length: RetryPolicy.live.maxAttempts }, (_, index) => {
        if (!RetryPolicy.allowsAfter(policy, index)) return ["—", "—"]
        if (index === 0) return ["—", "0 s"]
        const delay = RetryPolicy.delayMillis(policy, index, 0.5)
        since += delay
        return [duration(delay), duration(since)]
      })
    })
    const expected = Array.from({ length: RetryPolicy.live.maxAttempts }, (_, index) => [
      String(index + 1),
      ...columns.flatMap((column) => column[index] ?? []),
    ])
    assert.deepStrictEqual(table(section(text, "Retries"), "attempt"), expected)
  })

  it.each<[string, string, ReadonlyArray<string>]>([
    ["Why a delivery failed", "`reason`", Delivery.failureReasons],
    ["Why an attempt had no answer", "`error`", Delivery.attemptErrors],
    ["What disables an endpoint", "`disabled_reason`", Endpoint.disabledReasons],
  ])("explains each of them: %s", (heading, column, all) => {
    assert.deepStrictEqual(
      table(section(text, heading), column).map(([code = ""]) => plain(code)),
      all,
    )
  })
})

/** The numbers in the sources, by the names of their constants. */
const constants = (): ReadonlyMap<string, ReadonlySet<number>> => {
  const found = new Map<string, Set<number>>()
  const files = [
    "packages/{core,billwright}/src/{webhooks,events,verify}/*.ts",
    "packages/core/src/shared/Page.ts",
    "packages/node/src/*.ts",
  ]
  for (const file of globSync(files, { cwd: root })) {
    for (const [, name = "", product = ""] of read(file).matchAll(
      /^(?:export )?const ([A-Z][A-Z0-9_]+)(?:: \w+)? = ([\d_]+(?: \* [\d_]+)*)$/gm,
    )) {
      const value = product.split(" * ").reduce((all, part) => all * Number(part.replaceAll("_", "")), 1)
      found.set(name, (found.get(name) ?? new Set()).add(value))
    }
  }
  return found
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  h: HOUR,
  days: DAY,
  KiB: 1_024,
  MiB: 1_048_576,
}
const QUANTITY = /(\d[\d,]*)(?: (ms|s|h|days|KiB|MiB|characters)\b)?/

/** `64 KiB` as 65536, `15 s` as 15000. */
const amountOf = (quantity: string): number => {
  const [, digits = "", unit = ""] = QUANTITY.exec(quantity) ?? []
  return Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? 1)
}

/** Numbers that are not limits of ours: statuses, standards, and the spread that the schedule's test uses. */
const OTHERS =
  /(?<!,)\b(2xx|400|409|410|429|500|502|503|504)\b|2\^53|±20 %|ISO 4217|since 1970|[A-Z]\w*-?\d+(-\w+)?|^\d+\. |^#.*/gm

/** Rows of the tables that have their own tests. */
const CHECKED = /^\| (\d+|`https?:|`--).*/gm

describe("docs/webhooks.md: numbers", () => {
  const limits = table(section(text, "Limits"), "limit")

  it("takes its limits from named constants", () => {
    const known = constants()
    for (const [limit, value = "", name = ""] of limits) {
      const values = [...(known.get(plain(name)) ?? [])]
      assert.lengthOf(values, 1, `${limit}: there should be one value of ${name}`)
      const unit = plain(name).endsWith("_SECONDS") ? SECOND : 1
      assert.strictEqual(amountOf(value), values[0]! * unit, `${limit}: ${name}`)
    }
  })

  it("has no number that is not a limit", () => {
    const tabulated = new Set(limits.map(([, value = ""]) => value))
    const rest = withoutBlocks(text.replace(section(text, "Limits"), ""))
      .replaceAll(CHECKED, "")
      .replaceAll(/`[^`]*`|\]\([^)]*\)/g, "")
      .replaceAll(OTHERS, "")
    const quantities = [...rest.matchAll(new RegExp(QUANTITY, "g"))].map(([each]) => each.replace(/,$/, ""))
    assert.isAtLeast(quantities.length, 20)
    assert.deepStrictEqual(
      quantities.filter((each) => each !== "0 s" && !tabulated.has(each)),
      [],
    )
  })

  it("has the defaults of the command's flags", () => {
    const source = read("packages/cli/src/Dispatch.ts")
    const known = constants()
    for (const [flag = "", value] of table(section(text, "The dispatcher"), "flag of `serve`")) {
      const declared = new RegExp(`"${plain(flag).slice(2)}"[\\s\\S]*?withDefault\\((.*?)\\)`).exec(source)
      const field = declared?.[1]?.replace("DEFAULTS.", "") ?? ""
      const [name = "", divisor] = new RegExp(`  ${field}: (.*),`).exec(source)?.[1]?.split(" / ") ?? []
      const number = Number.isNaN(Number(name)) ? [...(known.get(name) ?? [])][0]! : Number(name)
      assert.strictEqual(Number(value), divisor === undefined ? number : number / SECOND, flag)
    }
  })

  it("judges URLs as the code does", () => {
    for (const [url = "", live, test] of table(section(text, "Where webhooks may go"), "URL")) {
      const verdicts = modes.map((mode) =>
        EndpointUrl.problemOf(plain(url), mode) === undefined ? "yes" : "no",
      )
      assert.deepStrictEqual([live, test], verdicts, url)
    }
    assert.include(text, `ports are ${EndpointUrl.LIVE_PORTS.join(" and ")}`)
  })

  it("names the built-in event types", () => {
    const names = EventCatalogue.builtIn.map(({ name }) => `\`${name}\``).toSorted()
    const [sentence = ""] = /The built-in ones are [^;]*/.exec(text) ?? []
    assert.deepStrictEqual(sentence.match(/`[^`]+`/g), names)
  })
})

/** A message as a sender makes it, with node:crypto only. */
const messageOf = (body: string, key: Buffer, now = Date.now()) => {
  const id = "evt_01m7y9enz5fw2tyjv9s8c0qx7r"
  const timestamp = String(Math.floor(now / SECOND))
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${"A".repeat(43)}= v1,${signature}`,
  }
  return { headers, body }
}

const key = randomBytes(32)
const secret = `${"whsec"}_${key.toString("base64")}`
const PAYLOAD =
  '{"id":"evt_1","type":"usage.threshold","data":{"total_quantity":9007199254740993,"name":"Zoë"}}'

describe("docs/webhooks.md: examples", () => {
  const typescript = blocks(text, "ts")

  it("shows the receivers that are tested", () => {
    for (const name of ["node", "express", "fastify", "hono", "next"])
      assert.include(typescript, read(`packages/billwright/test/readme/${name}.ts`), name)
  })

  it("stores each event once in the inbox", { timeout: 60_000 }, async () => {
    const code = typescript.find((each) => each.includes("inbox")) ?? ""
    const { stop, url } = await startPostgres()
    try {
      const { body, headers } = messageOf(PAYLOAD, key)
      const deliver = `await receive({ headers: new Headers(${JSON.stringify(headers)}), body: ${JSON.stringify(body)} })`
      const rest = [
        `console.log(${deliver}) // 204`,
        `console.log(${deliver}) // 204`,
        'console.log((await pool.query("select payload from inbox")).rows.length) // 1',
        // The query of the section about the dispatcher, on an empty queue.
        'const { PostgresClient, Storage } = await import("@billwright/postgres")',
        'const { Effect, Layer, Redacted } = await import("effect")',
        `const client = PostgresClient.layer({ url: Redacted.make(${JSON.stringify(url)}) })`,
        "const migrations = Layer.provide(Storage.layerMigrations(), client)",
        "await Effect.runPromise(Effect.scoped(Layer.build(migrations)))",
        `const [row] = (await pool.query(${JSON.stringify(blocks(text, "sql")[0])})).rows`,
        "console.log(Object.values(row)) // [ null ]",
        "await pool.end()",
      ].join("\n")
      runExample(`${code}\n${rest}\n`, { DATABASE_URL: url, WEBHOOK_SECRET: secret })
    } finally {
      await stop()
    }
  })

  it("shows the request that arrives, and other libraries verify it", { timeout: 60_000 }, () => {
    const [sample = ""] = blocks(text, "http")
    const names = [...sample.matchAll(/^([a-z-]+): /gm)].map(([, name]) => name)
    const payload = JSON.parse(sample.split("\n\n")[1] ?? "") as {
      readonly id: EventId
      readonly type: string
      readonly timestamp: string
      readonly data: unknown
    }
    const event = { ...payload, timestamp: DateTime.makeUnsafe(payload.timestamp) }
    assert.include(sample, `\n\n${Event.render(event, "test", payload.data)}\n`)
    assert.include(sample, `webhook-id: ${payload.id}\n`)
    runExample(
      `
import { Billing, CurrentTenant, Dispatcher, Endpoints, Events, Tenant } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { ScriptedReceivers } from "@billwright/testing"
import { Effect, Layer, Redacted } from "effect"
import * as StandardWebhooks from "standardwebhooks"
import * as Svix from "svix"

const sent = Effect.gen(function* () {
  const endpoint = { url: "https://hooks.example.com/", eventTypes: ["*"] }
  const { secret } = yield* (yield* Endpoints).create(endpoint)
  yield* (yield* Events).publish({ type: "invoice.paid", data: ${JSON.stringify(payload.data)} })
  yield* (yield* Dispatcher).runDue
  const [request] = yield* (yield* ScriptedReceivers).requests()
  return { request, secret: Redacted.value(secret) }
})
const { request, secret } = await sent.pipe(
  Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
  Effect.provide(
    Dispatcher.layerManual().pipe(
      Layer.provideMerge(Billing.layer),
      Layer.provideMerge(Layer.merge(Memory.layer, ScriptedReceivers.layer)),
    ),
  ),
  Effect.runPromise,
)
console.log(Object.keys(request.headers).join(" ")) // ${names.join(" ")}
console.log(request.headers["user-agent"]) // ${/^user-agent: (.*)$/m.exec(sample)?.[1]}
new StandardWebhooks.Webhook(secret).verify(request.body, request.headers)
new Svix.Webhook(secret).verify(request.body, request.headers)
`,
    )
  })

  it("forwards events to your machine", { timeout: 120_000 }, async () => {
    const { key: apiKey, stop, url } = await startServer()
    const terminal = new Terminal(root)
    const received: Array<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> = []
    const receiver = createServer(async (request, response) => {
      received.push({ headers: request.headers, body: await buffer(request) })
      response.writeHead(204).end()
    }).listen(0, "127.0.0.1")
    await once(receiver, "listening")
    const { port } = receiver.address() as AddressInfo
    try {
      const [listen = "", trigger = ""] = blocks(section(text, "Try it on your machine"), "sh")
      const mine = listen
        .replace("http://127.0.0.1:4100", url)
        .replace("a key of yours", apiKey)
        .replace("localhost:3000", `127.0.0.1:${port}`)
      await terminal.run(`export PATH="${root}/node_modules/.bin:$PATH"`)
      await terminal.run(`${mine.trimEnd()} &`)
      await terminal.shows(`Forwarding to http://127.0.0.1:${port}/webhooks`)
      await terminal.run(trigger)
      await terminal.run("billwright trigger usage.threshold")
      await terminal.shows(/ usage\.threshold {2}204 /)
      const printed = terminal.lines.join("\n")
      const [, signing = ""] = /^Signing secret {2}(\S+)$/m.exec(printed) ?? []
      const events = await Promise.all(received.map((each) => verify({ secret: signing, ...each })))
      assert.deepStrictEqual(
        events.map(({ event }) => event.type),
        ["invoice.paid", "invoice.paid", "usage.threshold"],
      )
      assert.include(printed, "payment.failed\nNo endpoint subscribes to its type.")
      assert.strictEqual(terminal.errors, "")
    } finally {
      await terminal.close()
      receiver.close()
      await stop()
    }
  })

  it("keeps the raw bytes next to Express's JSON parser", { timeout: 60_000 }, () => {
    const [, parser = ""] = /`(express\.json\(\{.*\}\))`/.exec(text) ?? []
    const { body, headers } = messageOf(PAYLOAD, key)
    runExample(
      `
import { once } from "node:events"
import { verify } from "billwright/verify"
import express from "express"

const app = express()
app.use(${parser})
app.post("/", async ({ headers, rawBody, body }, response) => {
  const secret = process.env["WEBHOOK_SECRET"]
  const { id } = await verify({ secret, headers, body: rawBody })
  const { code } = await verify({ secret, headers, body }).catch((error) => error)
  response.json({ id, code })
})
const server = app.listen(0, "127.0.0.1")
await once(server, "listening")
const url = "http://127.0.0.1:" + server.address().port
const headers = { ...${JSON.stringify(headers)}, "content-type": "application/json" }
const response = await fetch(url, { method: "POST", headers, body: ${JSON.stringify(body)} })
const { id, code } = await response.json()
console.log(id, code) // ${headers["webhook-id"]} invalid_body
server.close()
`,
      { WEBHOOK_SECRET: secret },
    )
  })

  it("names the errors for bodies that are not raw", async () => {
    const { body, headers } = messageOf(PAYLOAD, key)
    const codeOf = async (given: unknown, now = new Date()) => {
      try {
        await verify({ secret, headers, body: given as string, now })
        return "verified"
      } catch (error) {
        return error instanceof WebhookVerificationError ? error.code : error
      }
    }
    assert.strictEqual(await codeOf(body), "verified")
    assert.strictEqual(await codeOf(JSON.parse(body)), "invalid_body")
    assert.strictEqual(await codeOf(JSON.stringify(JSON.parse(body))), "no_matching_signature")
    const told = table(section(text, "Verify"), "what was done").map(([, code]) => code)
    assert.deepStrictEqual(
      told.map((code = "") => code.match(/`(\w+)`/g)?.map(plain)),
      [
        ["invalid_body"],
        ["no_matching_signature"],
        ["no_matching_signature"],
        ["timestamp_too_old", "timestamp_too_new"],
      ],
    )
    assert.strictEqual(await codeOf(body, new Date(Date.now() + 400 * SECOND)), "timestamp_too_old")
    assert.strictEqual(await codeOf(body, new Date(Date.now() - 400 * SECOND)), "timestamp_too_new")
  })

  const [openssl = ""] = blocks(text, "sh").filter((block) => block.includes("openssl"))
  it("verifies in a shell", () => {
    inWorkspace((folder) => {
      const { body, headers } = messageOf(PAYLOAD, key)
      const run = (sent: string) => {
        writeFileSync(join(folder, "body.json"), sent)
        const env = {
          ...process.env,
          WEBHOOK_SECRET: secret,
          id: headers["webhook-id"],
          timestamp: headers["webhook-timestamp"],
          signatures: headers["webhook-signature"],
        }
        const { stderr, stdout } = spawnSync("bash", ["--norc", "-euc", openssl], {
          cwd: folder,
          env,
          encoding: "utf8",
        })
        return stdout + stderr
      }
      assert.strictEqual(run(body), "verified\n")
      assert.strictEqual(run(`${body} `), "refused\n")
    })
  })

  const [python = ""] = blocks(text, "python")
  it.runIf(spawnSync("python3", ["--version"]).status === 0)("verifies in Python", () => {
    const run = (message: ReturnType<typeof messageOf>) => {
      const call = `import json, sys\nm = json.load(sys.stdin)\nprint(verify(m["secret"], m["headers"], m["body"].encode()))`
      const input = JSON.stringify({ secret, ...message })
      const { stderr, stdout } = spawnSync("python3", ["-c", `${python}\n${call}`], {
        input,
        encoding: "utf8",
      })
      return stdout + stderr
    }
    const message = messageOf(PAYLOAD, key)
    assert.strictEqual(run(message), "True\n")
    assert.strictEqual(run({ ...message, body: `${PAYLOAD} ` }), "False\n")
    assert.strictEqual(run(messageOf(PAYLOAD, randomBytes(32))), "False\n")
    assert.strictEqual(run(messageOf(PAYLOAD, key, Date.now() - 400 * SECOND)), "False\n")
  })
})
