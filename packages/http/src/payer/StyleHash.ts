/**
 * The hash by which a content security policy names a style.
 */
import { Sha256 } from "@billwright/core"

/** `sha256-` and the hash in base64. */
export const hashOf = (style: string): string => {
  const bytes = Sha256.hex(style).match(/../g) ?? []
  return `sha256-${btoa(bytes.map((hex) => String.fromCharCode(Number.parseInt(hex, 16))).join(""))}`
}
