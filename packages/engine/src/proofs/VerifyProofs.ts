/**
 * Checks proofs with their signatures, by the WebCrypto of the platform.
 */
import { canonicalJson } from "../catalog/CanonicalJson.ts"
import type { Problem } from "../catalog/Problem.ts"
import { checkProof } from "./CheckProof.ts"
import { linkOf, problemsOfChain, type ProofLink } from "./ProofChain.ts"
import type { Proof } from "./ProofDocument.ts"
import { readProof } from "./ReadProof.ts"

/** A proof as `invoiceProofs.list` and the REST API give it. Everything else about it is in the document. */
export type GivenProof = { readonly document: string; readonly signature: string } & (
  | { readonly keyId: string }
  | { readonly key_id: string }
)

/** Public keys that are trusted, as a JWK Set (RFC 7517): what `publicProofKey` gives. */
export interface ProofKeys {
  readonly keys: ReadonlyArray<{
    readonly kty: string
    readonly crv?: string
    readonly x?: string
    readonly kid?: string
  }>
}

/** A proof that was last of its series at some time, such as when a series was checked before. */
export interface ProofsEnd {
  readonly position: number
  readonly hash: string
}

export interface VerifyOptions {
  readonly keys: ProofKeys
  /** The proof has to be among those that are checked. So it is seen when the end of a series was cut off. */
  readonly includes?: ProofsEnd | undefined
}

/** What is wrong. */
export interface ProofProblem {
  /** The number of the invoice. `null`: of a proof that can't be read, or of the series. */
  readonly number: string | null
  /** The place in the proof, such as `invoice.lines[0].amount`. */
  readonly path: string
  /** Continues the sentence. */
  readonly problem: string
}

/** What was found out. */
export interface VerifiedProofs {
  /** Whether everything is right: nothing was changed, and nothing is missing between the first and the last proof. */
  readonly isValid: boolean
  readonly problems: ReadonlyArray<ProofProblem>
  /** Whether there were more problems than `problems` has. */
  readonly hasMore: boolean
  /** How many proofs were read. */
  readonly proofs: number
  /** How many lines were rated again by the terms of their plans. */
  readonly linesRated: number
  /** How many lines were only computed again from their own steps: there are no terms to rate them by. */
  readonly linesComputed: number
  /** The position of the first proof. 1: the series is complete from its beginning. `null` without proofs. */
  readonly first: number | null
  /** The last proof. Keep it for `includes` of the next check. `null` without proofs. */
  readonly end: ProofsEnd | null
}

/** Most problems that are reported. */
const MAX_PROBLEMS = 1_000

type PublicKeys = ReadonlyMap<string, CryptoKey>

const subtle = (): SubtleCrypto => {
  // Browsers have it in secure contexts only.
  const { crypto } = globalThis as { readonly crypto?: { readonly subtle?: SubtleCrypto } }
  if (crypto?.subtle === undefined) {
    throw new TypeError(
      "this runtime has no WebCrypto (crypto.subtle), which browsers offer in secure contexts only",
    )
  }
  return crypto.subtle
}

const encoder = new TextEncoder()

const sha256 = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await subtle().digest("SHA-256", encoder.encode(text)))

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** The keys by their thumbprints, which are computed here: a wrong `kid` can't give a key another name. */
const importKeys = async ({ keys }: ProofKeys): Promise<PublicKeys> => {
  const imported = new Map<string, CryptoKey>()
  for (const { crv, kty, x } of keys) {
    if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") continue
    const thumbprint = base64Url(await sha256(`{"crv":"Ed25519","kty":"OKP","x":${JSON.stringify(x)}}`))
    const jwk = { kty, crv, x }
    imported.set(thumbprint, await subtle().importKey("jwk", jwk, "Ed25519", false, ["verify"]))
  }
  if (imported.size === 0) throw new TypeError("keys has no public key of Ed25519")
  return imported
}

/** Collects problems up to a limit. */
class Found {
  readonly problems: Array<ProofProblem> = []
  hasMore = false

  add(number: string | null, path: string, problem: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ number, path, problem })
    else this.hasMore = true
  }

  addAll(number: string | null, problems: ReadonlyArray<Problem>): void {
    for (const { path, problem } of problems) this.add(number, path, problem)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const parsed = (document: string): Proof => {
  const value: unknown = JSON.parse(document)
  if (canonicalJson(value) !== document) throw new TypeError("the document is not canonical JSON")
  return readProof(value)
}

const isSigned = async (given: GivenProof, keys: PublicKeys): Promise<string | undefined> => {
  const keyId = "keyId" in given ? given.keyId : given.key_id
  const key = keys.get(keyId)
  if (key === undefined)
    return `is signed by the key ${String(keyId)}, which is not among those that are trusted`
  const signature = typeof given.signature === "string" ? bytesOf(given.signature) : undefined
  const isRight =
    signature !== undefined &&
    (await subtle().verify("Ed25519", key, signature, encoder.encode(given.document)))
  return isRight ? undefined : "has a wrong signature: it was changed, or somebody else made it"
}

const checkTerms = async (found: Found, { invoice, plans }: Proof): Promise<void> => {
  for (const { hash, key, terms, version } of plans) {
    if (hexOf(await sha256(canonicalJson(terms))) !== hash) {
      found.add(invoice.number, "plans", `have other terms of ${key} ${String(version)} than its hash says`)
    }
  }
}

/**
 * Checks proofs of invoices, from what they say alone.
 *
 * Of each proof: its signature is of one of the keys; every line is the sum of its steps, the invoice is the sum of its lines,
 * discounts and taxes; lines are rated again by the terms of their plans, and the terms have the hash of their version. Of
 * all together: they are of one account and mode, each follows the one before, and no number is missing or occurs twice.
 *
 * Proofs may come in any order. A series may begin after its first proof. What was issued after the last one is not known
 * here: `includes` names a proof that has to be among them.
 *
 * ```ts
 * const { isValid, problems } = await verifyProofs(billing.invoiceProofs.list(), { keys })
 * ```
 *
 * Rejects with a `TypeError` if there is no usable key, or no WebCrypto.
 */
export const verifyProofs = async (
  proofs: Iterable<GivenProof> | AsyncIterable<GivenProof>,
  { includes, keys: given }: VerifyOptions,
): Promise<VerifiedProofs> => {
  const keys = await importKeys(given)
  const found = new Found()
  const links: Array<ProofLink> = []
  let count = 0
  let linesRated = 0
  let linesComputed = 0
  for await (const one of proofs) {
    count++
    try {
      const proof = parsed(one.document)
      const { number } = proof.invoice
      links.push(linkOf(proof, hexOf(await sha256(one.document))))
      const unsigned = await isSigned(one, keys)
      if (unsigned !== undefined) found.add(number, "proof", unsigned)
      const { problems, rated, unrated } = checkProof(proof)
      linesRated += rated
      linesComputed += unrated
      found.addAll(number, problems)
      await checkTerms(found, proof)
    } catch (error) {
      found.add(null, `proofs[${String(count - 1)}]`, `can't be read: ${messageOf(error)}`)
    }
  }
  found.addAll(null, problemsOfChain(links))
  links.sort((a, b) => a.position - b.position)
  const last = links.at(-1)
  if (
    includes !== undefined &&
    !links.some(({ hash, position }) => hash === includes.hash && position === includes.position)
  ) {
    found.add(
      null,
      "proofs",
      `lack the one at position ${String(includes.position)} with the hash ${includes.hash}`,
    )
  }
  return {
    isValid: found.problems.length === 0,
    problems: found.problems,
    hasMore: found.hasMore,
    proofs: count,
    linesRated,
    linesComputed,
    first: links[0]?.position ?? null,
    end: last === undefined ? null : { position: last.position, hash: last.hash },
  }
}
