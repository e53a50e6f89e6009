import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { KeyFile } from "../src/index.ts"

const LINE = /^key_[0-9a-f]{8}:[A-Za-z0-9+/]{43}=$/
const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "billwright-key-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true })),
)

/** Writes a file with this text and mode, and reads it. */
const reading = (text: string, mode = 0o600) =>
  Effect.gen(function* () {
    const path = join(yield* directory, "keys")
    writeFileSync(path, text)
    chmodSync(path, mode)
    return Redacted.value(yield* KeyFile.readOrMake(path))
  })

describe("a key file", () => {
  it.live("is created with a new key that only the owner may read", () =>
    Effect.gen(function* () {
      const path = join(yield* directory, "keys")
      const made = yield* KeyFile.readOrMake(path)
      assert.match(Redacted.value(made), LINE)
      assert.strictEqual(Buffer.from(Redacted.value(made).split(":")[1]!, "base64").length, 32)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(readFileSync(path, "utf8"), `${Redacted.value(made)}\n`)
      assert.notInclude(String(made), Redacted.value(made).slice(0, 12))
      assert.deepStrictEqual(readdirSync(join(path, "..")), ["keys"])
    }),
  )

  it.live("is read the next time, and another file has another key", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const [a, again, b] = [
        yield* KeyFile.readOrMake(join(path, "a")),
        yield* KeyFile.readOrMake(join(path, "a")),
        yield* KeyFile.readOrMake(join(path, "b")),
      ].map(Redacted.value)
      assert.strictEqual(a, again)
      assert.notStrictEqual(a!.split(":")[0], b!.split(":")[0])
      assert.notStrictEqual(a!.split(":")[1], b!.split(":")[1])
    }),
  )

  it.live("is created once when several processes start at the same time", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 20; round++) {
        const path = join(yield* directory, "keys")
        const keys = yield* Effect.all(
          Array.from({ length: 10 }, () => KeyFile.readOrMake(path)),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(new Set(keys.map(Redacted.value)).size, 1)
        assert.deepStrictEqual(readdirSync(join(path, "..")), ["keys"])
      }
    }),
  )

  it.live("may have several keys, with or without a line break at the end", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reading(key("a", 1)), key("a", 1))
      assert.strictEqual(
        yield* reading(`${key("new-1", 2)}\n${key("old_1", 1)}\n\n`),
        `${key("new-1", 2)}\n${key("old_1", 1)}`,
      )
      assert.strictEqual(yield* reading(`${key("a", 1)}\r\n`, 0o400), key("a", 1))
    }),
  )

  for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o666, 0o777]) {
    it.live(`is refused with the mode ${mode.toString(8)}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(reading(key("a", 1), mode))
        assert.strictEqual(
          error.message,
          `the key file ${error.path} may be read by others (its mode is ${mode.toString(8)}): run "chmod 600 ${error.path}"`,
        )
      }),
    )
  }

  for (const text of [
    "",
    "\n",
    "secret-text",
    Buffer.alloc(32, 1).toString("base64"),
    `:${Buffer.alloc(32, 1).toString("base64")}`,
    `a:${Buffer.alloc(31, 1).toString("base64")}`,
    `a:${Buffer.alloc(33, 1).toString("base64")}`,
    `a b:${Buffer.alloc(32, 1).toString("base64")}`,
    `${"a".repeat(33)}:${Buffer.alloc(32, 1).toString("base64")}`,
    `${key("a", 1)}\nsecret-text`,
    `${key("a", 1)}\n\n${key("b", 1)}`,
    `# secret-text\n${key("a", 1)}`,
  ]) {
    it.live(`is refused with the text ${JSON.stringify(text.slice(0, 50))}, which isn't repeated`, () =>
      Effect.gen(function* () {
        const { message, path } = yield* Effect.flip(reading(text))
        assert.strictEqual(
          message,
          `the key file ${path} must hold lines of the form <id>:<base64 of 32 bytes>`,
        )
      }),
    )
  }

  it.live("is refused when it is too large, is a directory or a device, or can't be created", () =>
    Effect.gen(function* () {
      const problemOf = (path: string) =>
        Effect.map(Effect.flip(KeyFile.readOrMake(path)), ({ problem }) => problem)
      const path = yield* directory
      writeFileSync(join(path, "large"), `${key("a", 1)}\n`.repeat(200), { mode: 0o600 })
      assert.strictEqual(yield* problemOf(join(path, "large")), "is larger than 4096 bytes")
      mkdirSync(join(path, "directory"), { mode: 0o700 })
      assert.strictEqual(yield* problemOf(join(path, "directory")), "is not a regular file")
      assert.strictEqual(yield* problemOf("/dev/null"), "is not a regular file")
      assert.strictEqual(
        yield* problemOf(join(path, "none", "keys")),
        "can't be created: its directory does not exist",
      )
      assert.strictEqual(yield* problemOf(join(path, "large", "keys")), "can't be read or created (ENOTDIR)")
    }),
  )
})
