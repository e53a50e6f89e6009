/**
 * A program of the operator's that asks a key management service to decrypt keys: `BILLWRIGHT_KEY_COMMAND`.
 *
 * It is run once for each wrapped key, when a command starts that needs the keys. Its argument is the key's id, and its
 * standard input is the wrapped key in base64. It prints the key in base64. What it writes to standard error is shown.
 */
import { spawn } from "node:child_process"
import {
  type InvalidKeyring,
  type KeyManagement,
  type KeyManagementFailed,
  unwrapKeys,
} from "@billwright/core"
import { Config, Effect, Option, type Redacted } from "effect"
import { explainConfig, type Misconfigured } from "./Store.ts"

const VARIABLE = "BILLWRIGHT_KEY_COMMAND"
/** Most bytes that the program may print. A key in base64 has 44. */
const MAX_OUTPUT_BYTES = 1_024

/** Why a program gave no key. */
class CommandProblem extends Error {
  override readonly name = VARIABLE
}

const BASE64 = /^[A-Za-z0-9+/]+=*$/

const bytesOf = (output: string): Uint8Array => {
  const text = output.trim()
  if (!BASE64.test(text)) throw new CommandProblem("it must print the key in base64, and nothing else")
  return new Uint8Array(Buffer.from(text, "base64"))
}

/** Runs a program without a shell, and gives what it prints. It is killed when the signal aborts. */
const run = (program: string, argument: string, input: string, signal: AbortSignal) =>
  new Promise<string>((resolve, reject) => {
    const child = spawn(program, [argument], { signal, stdio: ["pipe", "pipe", "inherit"] })
    const chunks: Array<Buffer> = []
    let size = 0
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= MAX_OUTPUT_BYTES) return
      reject(new CommandProblem(`it printed more than ${MAX_OUTPUT_BYTES} bytes`))
      child.kill()
    })
    // A program that doesn't read its input ends with a status of its own.
    child.stdin.on("error", () => undefined)
    child.on("error", (error) => reject(new CommandProblem(error.message)))
    child.on("close", (code, killedBy) => {
      if (code === 0) return resolve(Buffer.concat(chunks).toString())
      reject(new CommandProblem(`it ended with ${killedBy ?? `the status ${code}`}`))
    })
    child.stdin.end(`${input}\n`)
  })

const serviceOf = (program: string): KeyManagement => ({
  decrypt: (wrapped, keyId) =>
    Effect.tryPromise({
      try: async (signal) =>
        bytesOf(await run(program, keyId, Buffer.from(wrapped).toString("base64"), signal)),
      catch: (error) => error,
    }),
})

/** The errors of `unwrapped`. */
export type KeyCommandFailure = InvalidKeyring | KeyManagementFailed | Misconfigured

/** The keys, with those that a key management service has encrypted decrypted by the program of the variable, if it is set. */
export const unwrapped = Effect.fnUntraced(function* (
  keys: Redacted.Redacted<string>,
): Effect.fn.Return<Redacted.Redacted<string>, KeyCommandFailure> {
  const program = yield* Config.option(Config.String(VARIABLE)).pipe(
    Effect.mapError(explainConfig),
    Effect.map(Option.filter((text) => text.trim() !== "")),
  )
  return Option.isSome(program) ? yield* unwrapKeys(keys, serviceOf(program.value)) : keys
})
