/**
 * The tokens of links for payers: what a link is for, in plain text, and an authentication code of it (HMAC-SHA-256).
 *
 * `<kind>.<key id>.<account>.<mode>.<object id>.<expiry>.<language>.<code>`. No part contains a dot. The code covers all
 * parts before it, the key's id as well. So a token of another tenant, mode, kind, object, expiry or key is another token.
 */
import { Option, Redacted, Schema } from "effect"
import * as ApiKeySecret from "../keys/ApiKeySecret.ts"
import * as Sha256 from "../shared/Sha256.ts"
import { AccountId, Mode, type Tenant } from "../shared/Tenant.ts"
import type { RawKey } from "../webhooks/Keyring.ts"

/** The languages that pages for payers are written in. */
export const PayerLanguage = Schema.Literals(["de", "en", "es", "fr"])
export type PayerLanguage = typeof PayerLanguage.Type

/** What a link shows: one invoice, or the pages of a customer. */
export type LinkKind = "invoice" | "portal"

/** What a link is for. */
export interface LinkClaims {
  readonly kind: LinkKind
  readonly tenant: Tenant
  /** The id of the invoice or the customer. */
  readonly id: string
  /** In seconds since 1970. From then on, the link is not valid. */
  readonly expiresAt: number
  /** `null`: the language of the customer. */
  readonly language: PayerLanguage | null
}

/** What a link is for, and the key that signed it. */
export interface OpenedLink extends LinkClaims {
  readonly keyId: string
}

/** Why a token opens nothing. `expired` is said only of tokens that were valid once. */
export type LinkProblem = "wrong" | "expired"

/** Longest token, in characters. A longer one is wrong without being looked at. */
export const MAX_TOKEN_LENGTH = 400
/** The longest time that a link may be valid, in seconds: 90 days. */
export const MAX_LINK_SECONDS = 90 * 86_400
/** How far the clock of the machine that signs may be ahead of that of the machine that opens, in seconds. */
export const CLOCK_SKEW_SECONDS = 3_600

const LETTERS = { invoice: "i", portal: "p" } as const
const KINDS: Readonly<Record<string, LinkKind>> = { i: "invoice", p: "portal" }
/** Separates these codes from all others that the same key may be used for by mistake. */
const DOMAIN = "billwright payer link v1:"
const NO_LANGUAGE = "-"
const EXPIRY = /^[1-9]\d{0,11}$/
const ID = /^[a-z]{3}_[0-9a-z]{26}$/

const parseMode = Schema.decodeUnknownOption(Mode)
const parseAccount = Schema.decodeUnknownOption(AccountId)
const parseLanguage = Schema.decodeUnknownOption(PayerLanguage)

/** Computes the code of the text before it, in base64 for URLs. */
type Authenticate = (body: string) => string

/** Signs tokens with the first key unless the caller names another one, and reads those of all keys. */
export class TokenKeys {
  readonly #keys = new Map<string, Authenticate>()
  readonly #first: string

  constructor(keys: readonly [RawKey, ...ReadonlyArray<RawKey>]) {
    for (const { bytes, id } of keys) {
      const authenticate = Sha256.hmac(Redacted.value(bytes))
      this.#keys.set(id, (body) =>
        authenticate(DOMAIN + body, "base64")
          .replaceAll("+", "-")
          .replaceAll("/", "_")
          .replaceAll("=", ""),
      )
    }
    this.#first = keys[0].id
  }

  /** Throws a `TypeError` if the key is not there: only an opened link names one, so its key was there. */
  sign({ expiresAt, id, kind, language, tenant }: LinkClaims, keyId = this.#first): string {
    const authenticate = this.#keys.get(keyId)
    if (authenticate === undefined) throw new TypeError(`no key of links has the id "${keyId}"`)
    const parts = [LETTERS[kind], keyId, tenant.accountId, tenant.mode, id, expiresAt]
    const body = [...parts, language ?? NO_LANGUAGE].join(".")
    return `${body}.${authenticate(body)}`
  }

  /** Reads a token. `now` is in milliseconds since 1970. The code is compared before anything else is believed. */
  open(token: string, now: number): OpenedLink | LinkProblem {
    if (token.length > MAX_TOKEN_LENGTH) return "wrong"
    const end = token.lastIndexOf(".")
    const body = token.slice(0, Math.max(end, 0))
    const parts = body.split(".")
    const keyId = parts[1] ?? ""
    const authenticate = this.#keys.get(keyId)
    if (authenticate === undefined || !ApiKeySecret.isSameDigest(authenticate(body), token.slice(end + 1))) {
      return "wrong"
    }
    const claims = claimsOf(parts)
    if (claims === undefined || isTooLate(claims, now)) return "wrong"
    return claims.expiresAt * 1000 > now ? { ...claims, keyId } : "expired"
  }
}

/** Whether a link would be valid for longer than any that we make. Then somebody else has the key, and has signed it. */
const isTooLate = ({ expiresAt }: LinkClaims, now: number): boolean =>
  (expiresAt - MAX_LINK_SECONDS - CLOCK_SKEW_SECONDS) * 1000 > now

/** The claims of a text that one of our keys has signed. `undefined` if another release has written it in another way. */
const claimsOf = (parts: ReadonlyArray<string>): LinkClaims | undefined => {
  const [letter = "", , account, givenMode, id = "", expiry = "", language, ...more] = parts
  const kind = Object.hasOwn(KINDS, letter) ? KINDS[letter] : undefined
  const accountId = parseAccount(account)
  const mode = parseMode(givenMode)
  const known = parseLanguage(language)
  const isRight = more.length === 0 && ID.test(id) && EXPIRY.test(expiry)
  const isLanguage = Option.isSome(known) || language === NO_LANGUAGE
  if (!isRight || !isLanguage || kind === undefined) return undefined
  if (Option.isNone(accountId) || Option.isNone(mode)) return undefined
  return {
    kind,
    tenant: { accountId: accountId.value, mode: mode.value },
    id,
    expiresAt: Number(expiry),
    language: Option.getOrNull(known),
  }
}
