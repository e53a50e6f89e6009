/**
 * Keys for the secrets of webhook endpoints.
 */
import { generateKey } from "@billwright/core"
import { Redacted } from "effect"

/**
 * A new key for `encryptionKeys`, from the platform's CSPRNG: `<id>:<base64 of 32 bytes>`. Keep it where secrets are
 * kept, and for as long as there are webhook endpoints: what it encrypted can't be read without it.
 */
export const generateEncryptionKey = (id: string = "key_1"): string => Redacted.value(generateKey(id))
