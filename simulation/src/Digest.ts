/**
 * A history as one short text, which is equal for equal histories. Secrets, and values derived from them, are left
 * out, because they are truly random.
 */
import { createHash } from "node:crypto"
import type { History } from "./History.ts"

const CHANCE = new Set(["secret", "token", "webhook-signature"])

const plain = (key: string, value: unknown): unknown => {
  if (CHANCE.has(key)) return undefined
  return typeof value === "bigint" ? String(value) : value
}

export const digestOf = ({ calls, received, storage, stored }: History): string =>
  createHash("sha256").update(JSON.stringify({ calls, received, storage, stored }, plain)).digest("hex")
