/**
 * E-invoices of invoices and of credit notes, over the API of a running server: XML is printed, and Factur-X is a file.
 */
import { writeFile } from "node:fs/promises"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"
import { Misconfigured } from "./Store.ts"

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The XML as the server sends it, without its last line break, which printing adds. */
const xml = (kind: Api.Kind, name: "ubl" | "cii", description: string) =>
  Command.make(
    name,
    { id: Api.idOf(kind), url: Api.common.url },
    Effect.fn(function* ({ id }) {
      const api = yield* ApiClient
      const bytes = yield* api.file(Api.pathOf(kind, id, `/${name}`))
      yield* Console.log(new TextDecoder().decode(bytes).replace(/\n$/, ""))
    }),
  ).pipe(
    Command.withDescription(description),
    Command.provide(({ url }) => ApiClient.layer({ url })),
  )

const facturX = (kind: Api.Kind) =>
  Command.make(
    "factur-x",
    {
      id: Api.idOf(kind),
      output: Flag.String("output").pipe(
        Flag.withDescription("The file to write. It must not exist, so that nothing is overwritten."),
      ),
      url: Api.common.url,
    },
    Effect.fn(function* ({ id, output }) {
      const api = yield* ApiClient
      const bytes = yield* api.file(Api.pathOf(kind, id, "/factur_x"))
      yield* Effect.tryPromise({
        try: () => writeFile(output, bytes, { flag: "wx" }),
        catch: (error) => new Misconfigured({ message: `${output} can't be written: ${reasonOf(error)}` }),
      })
      yield* Console.log(`Wrote ${output}.`)
    }),
  ).pipe(
    Command.withDescription(`Write ${kind.noun} as Factur-X: a PDF with the XML within`),
    Command.provide(({ url }) => ApiClient.layer({ url })),
  )

/** `ubl`, `cii` and `factur-x`. */
export const commands = (kind: Api.Kind) =>
  [
    xml(kind, "ubl", `Print ${kind.noun} as an e-invoice in UBL 2.1`),
    xml(kind, "cii", `Print ${kind.noun} as an e-invoice in CII, the XML of Factur-X`),
    facturX(kind),
  ] as const
