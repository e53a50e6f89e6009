/**
 * Where the host's pages for payers are, and which keys sign the links to them.
 */
import { Effect, type Redacted } from "effect"
import { type InvalidKeyring, parseLinkKeys } from "../webhooks/Keyring.ts"
import { TokenKeys } from "./LinkToken.ts"

/** What the host sets about its pages for payers. */
export interface PayerPagesOptions {
  /**
   * The address that the pages are mounted at, as payers' browsers see it, such as `https://shop.example/billing`. It
   * begins with `https://`, or with `http://` on this machine.
   */
  readonly url: string
  /**
   * The keys that sign links: entries `id:base64` of 32 bytes, separated by commas or white space, at most 20. The first
   * key signs, and all keys open links. A link stops working when its key is removed.
   */
  readonly keys: Redacted.Redacted<string>
}

/** The options, completed. */
export interface PayerSettings {
  /** Without a slash at its end. */
  readonly url: string
  readonly keys: TokenKeys
}

/** Longest address, in characters. */
const MAX_URL_LENGTH = 1_000
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"])
const PROBLEM =
  "payerPages.url must be an address such as https://shop.example/billing, without a query: with https, or with http on localhost"

const parseUrl = (text: unknown): URL | undefined =>
  typeof text === "string" && text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : undefined

/**
 * The address of the pages, without a slash at its end. Throws a `TypeError` that names the option. Browsers keep the
 * headers that protect forms (`Sec-Fetch-Site`) from addresses with `http` that are not on the same machine.
 */
export const checkPagesUrl = (text: unknown): string => {
  const url = parseUrl(text)
  if (url === undefined || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "")
    throw new TypeError(PROBLEM)
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOCAL.has(url.hostname))
  if (!isSafe || !/^(\/[\w.~-]+)*\/?$/.test(url.pathname)) throw new TypeError(PROBLEM)
  return `${url.origin}${url.pathname}`.replace(/\/$/, "")
}

/** Completes options. Dies with a `TypeError` for a wrong address, because that is a bug in the program. */
export const payerSettings = (options: PayerPagesOptions): Effect.Effect<PayerSettings, InvalidKeyring> =>
  Effect.map(parseLinkKeys(options.keys), (keys) => ({
    url: checkPagesUrl(options.url),
    keys: new TokenKeys(keys),
  }))
