/** The bundle of a receiver: one file that imports nothing and uses only globals of the web. */
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import type * as Verify from "billwright/verify"
import { rolldown } from "rolldown"
import { assert, describe, it } from "vitest"
import vectors from "./vectors/webhook-signatures.json" with { type: "json" }

const entry = fileURLToPath(import.meta.resolve("billwright/verify"))

const build = async (format: "esm" | "iife") => {
  const bundle = await rolldown({ input: entry, platform: "neutral", external: [] })
  const { output } = await bundle.generate({ format, name: "verify", codeSplitting: false })
  await bundle.close()
  return output
}

/** Nothing of Node, and only those globals of the web that every runtime has. */
const webGlobals = { crypto, TextEncoder, TextDecoder, atob, btoa }

const [canonical] = vectors.v1
const [asymmetric] = vectors.v1a

const optionsOf = (vector: typeof canonical | typeof asymmetric) => ({
  headers: {
    "webhook-id": vector!.id,
    "webhook-timestamp": String(vector!.timestamp),
    "webhook-signature": vector!.signature,
  },
  body: vector!.payload,
  now: new Date(vector!.timestamp * 1000),
})

const symmetricOptions = { ...optionsOf(canonical), secret: canonical!.secret }
const asymmetricOptions = { ...optionsOf(asymmetric), publicKey: asymmetric!.publicKey }

/** Loads the module in a new realm with only these globals and those of the language. */
const load = async (globals: object): Promise<typeof Verify> => {
  const [chunk] = await build("iife")
  return runInContext(`${chunk.code}\nverify`, createContext({ ...globals })) as typeof Verify
}

const codeIn = (verification: Promise<unknown>): Promise<unknown> =>
  verification.then(
    () => "verified",
    (error: { readonly code: unknown }) => error.code,
  )

describe("the bundle", () => {
  it("imports nothing", async () => {
    const output = await build("esm")
    assert.lengthOf(output, 1)
    const [{ code, dynamicImports, imports }] = output
    assert.deepStrictEqual({ dynamicImports, imports }, { dynamicImports: [], imports: [] })
    assert.notMatch(code, /\bimport\b\s*[("'{*]|\brequire\b|\bfrom\s*["']/)
  })

  it("is small", async () => {
    const [{ code }] = await build("esm")
    assert.isBelow(code.length, 20_000)
  })

  it("runs with only the globals of the web, and with bytes of another realm", async () => {
    const { verifySignature } = await load(webGlobals)
    for (const options of [symmetricOptions, asymmetricOptions]) {
      const bytes = new TextEncoder().encode(options.body)
      for (const body of [options.body, bytes, bytes.buffer])
        assert.strictEqual((await verifySignature({ ...options, body })).id, canonical!.id)
      assert.strictEqual(await codeIn(verifySignature({ ...options, body: "x" })), "no_matching_signature")
    }
  })
})

describe("a runtime", () => {
  it("without WebCrypto gets an error that says so", async () => {
    for (const globals of [{}, { crypto: {} }]) {
      const { verifySignature } = await load({ ...webGlobals, crypto: undefined, ...globals })
      assert.strictEqual(await codeIn(verifySignature(symmetricOptions)), "unsupported_runtime")
      assert.strictEqual(await codeIn(verifySignature(asymmetricOptions)), "unsupported_runtime")
    }
  })

  it("without Ed25519 gets an error that says so, and verifies v1", async () => {
    const failing = (name: string) => ({
      importKey: (...[format, data, algorithm, ...rest]: Parameters<typeof crypto.subtle.importKey>) =>
        (algorithm as Algorithm).name === "Ed25519"
          ? Promise.reject(new DOMException("", name))
          : crypto.subtle.importKey(format as "raw", data as BufferSource, algorithm, ...rest),
      sign: crypto.subtle.sign.bind(crypto.subtle),
    })
    const codeWith = async (name: string, options: Verify.VerifyOptions) => {
      const { verifySignature } = await load({ ...webGlobals, crypto: { subtle: failing(name) } })
      return codeIn(verifySignature(options))
    }
    assert.strictEqual(await codeWith("NotSupportedError", asymmetricOptions), "unsupported_runtime")
    assert.strictEqual(await codeWith("DataError", asymmetricOptions), "invalid_public_key")
    assert.strictEqual(await codeWith("NotSupportedError", symmetricOptions), "verified")
  })
})
