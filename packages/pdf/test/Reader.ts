/**
 * Reads PDF with another library than the one that wrote it.
 */
import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs"

/** A part of the structure that screen readers follow. */
export interface Part {
  readonly role?: string
  readonly type?: string
  readonly alt?: string
  readonly children?: ReadonlyArray<Part>
}

export interface Page {
  /** The texts in the order of the file. */
  readonly texts: ReadonlyArray<{
    readonly text: string
    readonly x: number
    readonly y: number
    readonly width: number
  }>
  readonly width: number
  readonly height: number
  readonly tree: Part
}

export interface Read {
  readonly pages: ReadonlyArray<Page>
  readonly info: Readonly<Record<string, unknown>>
  readonly isTagged: boolean
}

export const read = async (bytes: Uint8Array): Promise<Read> => {
  // The reader takes the bytes away.
  const task = getDocument({ data: Uint8Array.from(bytes), verbosity: 0, useSystemFonts: false })
  const pdf = await task.promise
  const pages: Array<Page> = []
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const [, , width = 0, height = 0] = page.view
    pages.push({
      width,
      height,
      texts: items.flatMap((item) =>
        "str" in item
          ? [
              {
                text: item.str,
                x: item.transform[4] as number,
                y: item.transform[5] as number,
                width: item.width,
              },
            ]
          : [],
      ),
      tree: (await page.getStructTree()) as Part,
    })
  }
  const { info } = await pdf.getMetadata()
  // A map, although its types say otherwise.
  const marks = (await pdf.getMarkInfo()) as unknown as ReadonlyMap<string, boolean> | null
  await task.destroy()
  return { pages, info: info as Readonly<Record<string, unknown>>, isTagged: marks?.get("Marked") === true }
}

/** The text of a page with plain spaces. */
export const textOf = ({ texts }: Page): string =>
  texts
    .map(({ text }) => text)
    .join(" ")
    .replaceAll(/[\s\u00a0]+/g, " ")

/** Whether something of a page belongs to a part of the structure. */
const isOnPage = ({ children = [], type }: Part): boolean => type === "content" || children.some(isOnPage)

/** The roles of what a page has, in their order. The structure of a page has the parts of others, too, which are empty. */
export const rolesOf = (part: Part): ReadonlyArray<string> =>
  isOnPage(part)
    ? [...(part.role === undefined ? [] : [part.role]), ...(part.children ?? []).flatMap(rolesOf)]
    : []

/** The files in a document, by their names. */
export const attachmentsOf = async (bytes: Uint8Array): Promise<Readonly<Record<string, Uint8Array>>> => {
  const task = getDocument({ data: Uint8Array.from(bytes), verbosity: 0, useSystemFonts: false })
  try {
    const pdf = await task.promise
    const files = [...((await pdf.getAttachments()) ?? [])].map(async ([id, { filename }]) => {
      const content: Uint8Array | null = await pdf.getAttachmentContent(id)
      return [filename, content ?? new Uint8Array()] as const
    })
    return Object.fromEntries(await Promise.all(files))
  } finally {
    await task.destroy()
  }
}
