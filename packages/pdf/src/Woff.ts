/**
 * Unpacks fonts in WOFF (https://www.w3.org/TR/WOFF/), once for a process. The PDF library would unpack them for each document,
 * which takes most of the time of a document.
 */
import { inflateSync } from "node:zlib"

const WOFF_HEADER = 44
const WOFF_ENTRY = 20
const SFNT_HEADER = 12
const SFNT_ENTRY = 16

const aligned = (length: number): number => Math.ceil(length / 4) * 4

/** The font in a WOFF file, as OpenType. */
export const unpackWoff = (woff: Buffer): Buffer => {
  if (woff.toString("latin1", 0, 4) !== "wOFF") throw new TypeError("the font is not WOFF")
  const count = woff.readUInt16BE(12)
  const tables = Array.from({ length: count }, (_, index) => {
    const at = WOFF_HEADER + index * WOFF_ENTRY
    const [offset, packed, length] = [4, 8, 12].map((field) => woff.readUInt32BE(at + field)) as [
      number,
      number,
      number,
    ]
    const bytes = woff.subarray(offset, offset + packed)
    return { at, length, bytes: packed < length ? inflateSync(bytes) : bytes }
  })
  const begin = SFNT_HEADER + count * SFNT_ENTRY
  const font = Buffer.alloc(begin + tables.reduce((sum, { length }) => sum + aligned(length), 0))
  const power = 2 ** Math.floor(Math.log2(count))
  woff.copy(font, 0, 4, 8)
  font.writeUInt16BE(count, 4)
  font.writeUInt16BE(power * 16, 6)
  font.writeUInt16BE(Math.log2(power), 8)
  font.writeUInt16BE((count - power) * 16, 10)
  let offset = begin
  for (const [index, { at, bytes, length }] of tables.entries()) {
    const entry = SFNT_HEADER + index * SFNT_ENTRY
    woff.copy(font, entry, at, at + 4)
    woff.copy(font, entry + 4, at + 16, at + 20)
    font.writeUInt32BE(offset, entry + 8)
    font.writeUInt32BE(length, entry + 12)
    bytes.copy(font, offset)
    offset += aligned(length)
  }
  return font
}
