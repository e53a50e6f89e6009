/**
 * Writes the first keys of a store to a file instead of standard output, which often ends up in logs.
 */
import { resolve } from "node:path"
import type { StorageError } from "@billwright/core"
import { PrivateFile } from "@billwright/node"
import { Console, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as FirstKeys from "./FirstKeys.ts"

export const flag = Flag.String("keys-file").pipe(
  Flag.withDescription(
    "Write the first keys of a new store to this file, readable only by its owner. Default: standard output.",
  ),
  Flag.optional,
)

const LINE = /^(?:test|live) key {2}sk_(?:test|live)_[0-9A-Za-z]+$/

/** The line for a key, in the file and on standard output. */
export const lineOf = ({ mode, secret }: FirstKeys.FirstKey): string => `${mode} key  ${secret}`

const isOurs = (text: string): boolean => text.split(/\r?\n/).every((line) => LINE.test(line))

/** Refuses a file that others may read or that contains something else. Called before anything is written. */
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

const textOf = (keys: ReadonlyArray<FirstKeys.FirstKey>) => Redacted.make(`${keys.map(lineOf).join("\n")}\n`)

/**
 * Writes keys to the file before their transaction commits, so that no key is issued that nobody knows. When
 * something fails after that, the caller removes the file.
 */
const make = (path: string) => {
  let isMade = false
  const remove = Effect.suspend(() => {
    if (!isMade) return Effect.void
    isMade = false
    return PrivateFile.remove(path)
  })
  return {
    keep: (keys: ReadonlyArray<FirstKeys.FirstKey>) =>
      Effect.gen(function* () {
        if (keys.length === 0) return
        // If the transaction is run again, the file has the keys of the earlier run.
        yield* remove
        yield* PrivateFile.make(path, textOf(keys))
        isMade = true
      }),
    remove,
  }
}

const isOutcomeUnknown = (error: PrivateFile.PrivateFileError | StorageError): boolean =>
  error._tag === "StorageError" && error.isOutcomeUnknown === true

/**
 * `FirstKeys.ensure` with the keys in a file. When no key was issued, the file is removed. When nobody knows whether they
 * were, it stays, because it may be the only place with keys that are valid.
 */
export const ensure = (path: string) => {
  const { keep, remove } = make(path)
  return FirstKeys.ensure(keep).pipe(
    Effect.tapError((error) =>
      isOutcomeUnknown(error)
        ? Console.error(
            `It is unknown whether the keys in ${resolve(path)} were issued. Start again: if it refuses this file because it exists, they were not, and you can remove it.`,
          )
        : Effect.ignore(remove),
    ),
  )
}

/** Tells people where the keys are. */
export const announce = (path: string): string =>
  `The first keys are in ${resolve(path)}, which only you can read.`
