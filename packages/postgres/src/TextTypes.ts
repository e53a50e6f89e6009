/**
 * How texts are read from Postgres.
 *
 * `@effect/sql-pg` 4.1 reads a text that contains U+FFFD with a decoder that takes U+FEFF at its beginning for a byte
 * order mark, and drops it. Texts that begin with it are read here, so that they are given back as they were stored.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const TEXT_OID = 25
const BINARY = 1

/** U+FEFF in UTF-8. */
const MARK = [0xef, 0xbb, 0xbf]
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const text: PgTypes.Codec<string> = {
  encode: (value) => PgTypes.encode(value, TEXT_OID),
  decode: (bytes) =>
    MARK.every((byte, index) => bytes[index] === byte)
      ? Result.succeed(decoder.decode(bytes))
      : Result.map(PgTypes.decode(bytes, TEXT_OID, BINARY), String),
}

/** The types of Postgres, with texts as they were stored. */
export const textTypes = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  types.register(TEXT_OID, text)
  return types
}
