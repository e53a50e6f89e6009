/**
 * Metadata as lines of text: `key=value`. Characters that would end a line or a key are escaped by a backslash.
 */

type Metadata = Readonly<Record<string, string>>

const escapeText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapeKey = (key: string): string => escapeText(key).replaceAll("=", "\\=")

const unescape = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character))

const LINE = /^((?:[^=\\]|\\.)+)=(.*)$/

/** Parses metadata. `undefined` if a line is malformed. */
export const parse = (text: string): Record<string, string> | undefined => {
  const entries: Array<[string, string]> = []
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue
    const match = LINE.exec(line)
    if (match === null) return undefined
    entries.push([unescape(match[1] ?? ""), unescape(match[2] ?? "")])
  }
  return Object.fromEntries(entries)
}

export const write = (metadata: Metadata): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${escapeKey(key)}=${escapeText(value)}`)
    .join("\n")

/** The patch that turns `before` into `after`. Removed keys are `null`. */
export const patch = (before: Metadata, after: Metadata): Record<string, string | null> => ({
  ...Object.fromEntries(
    Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key) => [key, null]),
  ),
  ...after,
})
