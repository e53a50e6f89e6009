/**
 * Keys that encrypt the secrets of webhook endpoints.
 */
import { generateKey } from "@billwright/core"
import { Redacted } from "effect"

/**
 * Makes a new key for `encryptionKeys` with the platform's CSPRNG: `<id>:<base64 of 32 bytes>`. Store it with your
 * other secrets, for as long as there are webhook endpoints: without the key, their secrets can't be read.
 */
export const generateEncryptionKey = (id: string = "key_1"): string => Redacted.value(generateKey(id))
