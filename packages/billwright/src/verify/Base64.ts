/**
 * Reads base64 as the web platform does: missing padding, white space and stray bits at the end pass. `undefined`
 * for anything else. For keys, which people copy and whose spelling decides nothing.
 */
export const decode = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Reads base64 in the one spelling that an encoder gives: so no two texts are the same signature. */
export const decodeCanonical = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const bytes = decode(text)
  return bytes !== undefined && btoa(String.fromCharCode(...bytes)) === text ? bytes : undefined
}
