/**
 * Writes the first keys of a store to a file instead of standard output, which often ends up in logs.
 */
import { resolve } from "node:path"
import { PrivateFile } from "@billwright/node"
import { Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import type { FirstKey } from "./FirstKeys.ts"

export const flag = Flag.String("keys-file").pipe(
  Flag.withDescription(
    "Write the first keys of a new store to this file, readable only by its owner. Default: standard output.",
  ),
  Flag.optional,
)

const LINE = /^(?:test|live) key {2}sk_(?:test|live)_[0-9A-Za-z]+$/

/** A key as it is printed. */
export const lineOf = ({ mode, secret }: FirstKey): string => `${mode} key  ${secret}`

const isOurs = (text: string): boolean => text.split(/\r?\n/).every((line) => LINE.test(line))

/** Refuses a file that others may read, or that holds something else, before anything is done. */
export const check = Effect.fnUntraced(function* (
  file: Option.Option<string>,
): Effect.fn.Return<void, PrivateFile.PrivateFileError> {
  if (Option.isNone(file)) return
  const text = yield* PrivateFile.readIfAny(file.value)
  if (text === undefined || isOurs(Redacted.value(text))) return
  return yield* new PrivateFile.PrivateFileError({
    path: file.value,
    problem: "contains something other than API keys: give --keys-file the path of a new file",
  })
})

const textOf = (keys: ReadonlyArray<FirstKey>) => Redacted.make(`${keys.map(lineOf).join("\n")}\n`)

/**
 * Keeps keys in the file while they are issued, so that none is issued that nobody gets to know. Whoever fails after
 * that removes it.
 */
export const make = (path: string) => {
  let isMade = false
  const remove = Effect.suspend(() => {
    if (!isMade) return Effect.void
    isMade = false
    return PrivateFile.remove(path)
  })
  return {
    keep: (keys: ReadonlyArray<FirstKey>) =>
      Effect.gen(function* () {
        if (keys.length === 0) return
        // What a transaction that is run again has kept before.
        yield* remove
        yield* PrivateFile.make(path, textOf(keys))
        isMade = true
      }),
    remove,
  }
}

/** Where the keys are, for people. */
export const announce = (path: string): string =>
  `The first keys are in ${resolve(path)}, which you alone can read.`
