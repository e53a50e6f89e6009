/**
 * Decodes base64 as the web platform does: it accepts missing padding, white space and stray bits at the end.
 * `undefined` for anything else. It is meant for keys, which people copy, so small differences in spelling must not
 * matter.
 */
export const decode = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Decodes base64 only in the canonical spelling, so that each signature has exactly one text. */
export const decodeCanonical = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const bytes = decode(text)
  return bytes !== undefined && btoa(String.fromCharCode(...bytes)) === text ? bytes : undefined
}
