/**
 * The fonts of documents: Noto Sans, in one file for each script. A document opens and embeds only those that it needs, and of
 * these only the characters that it has.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { unpackWoff } from "./Woff.ts"

export type Weight = "regular" | "bold"

const WEIGHTS: Readonly<Record<Weight, string>> = { regular: "400", bold: "700" }

/** The families and their scripts, in the order in which a character is looked for. */
const FAMILIES = [
  {
    name: "noto-sans",
    scripts: [
      "latin",
      "latin-ext",
      "greek",
      "cyrillic",
      "vietnamese",
      "cyrillic-ext",
      "greek-ext",
      "devanagari",
    ],
  },
  { name: "noto-sans-arabic", scripts: ["arabic"] },
  { name: "noto-sans-hebrew", scripts: ["hebrew"] },
] as const

type Range = readonly [first: number, last: number]

/** A file of fonts for one script, without its weight. */
interface Script {
  readonly family: string
  readonly script: string
  readonly ranges: ReadonlyArray<Range>
}

const pathOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier))

/** The ranges of a text such as `U+0000-00FF,U+0131`. */
const parseRanges = (text: string): ReadonlyArray<Range> =>
  text.split(",").map((range) => {
    const [first = "", last = first] = range.slice(2).split("-")
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)]
  })

const readScripts = (): ReadonlyArray<Script> =>
  FAMILIES.flatMap(({ name: family, scripts }) => {
    const text = readFileSync(pathOf(`@fontsource/${family}/unicode.json`), "utf8")
    const ranges = JSON.parse(text) as Readonly<Record<string, string>>
    return scripts.map((script) => ({ family, script, ranges: parseRanges(ranges[script] ?? "") }))
  })

let scripts: ReadonlyArray<Script> | undefined
const known = new Map<number, number>()

/** The index of the script that has a character. The first one shows a box for a character that no font has. */
const scriptOf = (codePoint: number): number => {
  const found = known.get(codePoint)
  if (found !== undefined) return found
  scripts ??= readScripts()
  const at = scripts.findIndex(({ ranges }) =>
    ranges.some(([first, last]) => first <= codePoint && codePoint <= last),
  )
  known.set(codePoint, Math.max(at, 0))
  return Math.max(at, 0)
}

/** A font: the name by which a document knows it, and its file. */
export interface Font {
  readonly name: string
  readonly isRightToLeft: boolean
  readonly read: () => Buffer
}

const files = new Map<string, Font>()

/** The font that has a character. */
export const fontOf = (character: string, weight: Weight): Font => {
  const at = scriptOf(character.codePointAt(0) ?? 0)
  const name = `${at}-${weight}`
  const opened = files.get(name)
  if (opened !== undefined) return opened
  const { family, script } = scripts![at]!
  const path = pathOf(`@fontsource/${family}/files/${family}-${script}-${WEIGHTS[weight]}-normal.woff`)
  let bytes: Buffer | undefined
  const font: Font = {
    name,
    isRightToLeft: family !== "noto-sans",
    read: () => (bytes ??= unpackWoff(readFileSync(path))),
  }
  files.set(name, font)
  return font
}
