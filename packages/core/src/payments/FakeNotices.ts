/**
 * The notices of a fake provider: it notes one of each change, signs them, and checks what came.
 */
import { Redacted, Schema } from "effect"
import * as Sha256 from "../shared/Sha256.ts"
import { Mode } from "../shared/Tenant.ts"
import {
  type Notice,
  NOTICE_TOLERANCE_SECONDS,
  type NoticeRequest,
  type Received,
} from "./ProviderNotices.ts"

/** The header with the signature: `t=<seconds since 1970>,v1=<hex>`. */
const FAKE_SIGNATURE_HEADER = "fake-signature"

/** How a notice is signed. */
export interface FakeSigning {
  /** When, in epoch milliseconds. */
  readonly at: number
  /** Default: the first secret of the provider. */
  readonly secret?: Redacted.Redacted<string> | undefined
}

const Body = Schema.fromJsonString(
  Schema.Struct({
    eventId: Schema.String,
    mode: Mode,
    about: Schema.String,
    reference: Schema.String,
  }),
)
const readBody = Schema.decodeUnknownOption(Body)

const isAbout = Schema.is(Schema.Literals(["payment", "refund", "dispute", "setup"]))

const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

const codeOf = (secret: Redacted.Redacted<string>, text: string): string =>
  Sha256.hmac(new TextEncoder().encode(Redacted.value(secret)))(text, "hex")

const textOf = (body: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return undefined
  }
}

/** Signs a body of any content, as the provider does. */
const signed = (text: string, secret: Redacted.Redacted<string>, at: number): NoticeRequest => {
  const seconds = Math.floor(at / 1_000)
  const code = codeOf(secret, `${seconds}.${text}`)
  return {
    body: new TextEncoder().encode(text),
    headers: { [FAKE_SIGNATURE_HEADER]: `t=${seconds},v1=${code}` },
  }
}

const INVALID: Received = { type: "invalid" }
const FOREIGN: Received = { type: "foreign" }

/** The notices of a provider with a mode and secrets of its own. */
export class FakeNotices {
  readonly #all: Array<Notice> = []
  readonly #mode: Mode
  readonly #secrets: ReadonlyArray<Redacted.Redacted<string>>

  constructor(mode: Mode, secrets: ReadonlyArray<Redacted.Redacted<string>>) {
    this.#mode = mode
    this.#secrets = secrets
  }

  /** All notices, in the order of what has happened. */
  get all(): ReadonlyArray<Notice> {
    return [...this.#all]
  }

  note(about: Notice["about"], reference: string): void {
    this.#all.push({ eventId: `evt_fake_${this.#all.length + 1}`, mode: this.#mode, about, reference })
  }

  sign(content: object, { at, secret = this.#secrets[0]! }: FakeSigning): NoticeRequest {
    return signed(JSON.stringify(content), secret, at)
  }

  receive({ body, headers }: NoticeRequest, now: number): Received {
    const text = textOf(body)
    const [, seconds, code] = SIGNATURE.exec(headers[FAKE_SIGNATURE_HEADER] ?? "") ?? []
    if (text === undefined || seconds === undefined) return INVALID
    const isRecent = Math.abs(now - Number(seconds) * 1_000) <= NOTICE_TOLERANCE_SECONDS * 1_000
    const isSigned = this.#secrets.some((secret) => codeOf(secret, `${seconds}.${text}`) === code)
    if (!isSigned || !isRecent) return INVALID
    const read = readBody(text)
    if (read._tag === "None" || !isAbout(read.value.about)) return FOREIGN
    return { type: "notices", notices: [{ ...read.value, about: read.value.about }] }
  }
}
