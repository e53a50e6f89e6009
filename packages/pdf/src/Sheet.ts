/**
 * A PDF that is written from top to bottom. What is written has its place in the structure that screen readers follow.
 */
import PdfKit from "pdfkit"
import type { Weight } from "./Fonts.ts"
import { attach, type SheetInfo, xmpOf } from "./Metadata.ts"
import { Breaker, isRightToLeft, type Run, runsOf } from "./Text.ts"

/** The part of the structure that something belongs to. */
export type Part = PDFKit.PDFStructureElement

export interface Look {
  /** In points. */
  readonly size: number
  readonly weight: Weight
  readonly color: string
  readonly align?: "left" | "right"
}

/** What the types of pdfkit lack. */
interface Untyped {
  readonly openImage: (bytes: Buffer) => { readonly width: number; readonly height: number }
  readonly appendXML: (xml: string) => void
  /** Writes what the document says of itself into its metadata. */
  _addInfo: () => void
}

const MARGIN = { top: 48, bottom: 62, left: 48, right: 48 } as const
const LINE_HEIGHT = 1.38
/** The part of a line above the letters' feet. */
const ASCENT = 1.02

export class Sheet {
  /** Where the next thing is written, in points from the top. */
  y: number = MARGIN.top
  readonly left: number = MARGIN.left
  readonly width: number
  readonly root: Part
  readonly #doc: PDFKit.PDFDocument
  readonly #bottom: number
  readonly #widths = new Map<string, number>()
  readonly #fonts = new Set<string>()

  constructor(info: SheetInfo) {
    const { author, createdAt, facturX, language, paper, title } = info
    const doc = new PdfKit({
      // Archives: everything that is needed to show the document is in it, and files may be attached.
      ...(facturX === undefined ? {} : { subset: "PDF/A-3a" as const }),
      size: paper,
      margin: 0,
      bufferPages: true,
      tagged: true,
      pdfVersion: "1.7",
      lang: language,
      displayTitle: true,
      // The same document always has the same bytes: its date is its own, and pdfkit makes its id of these.
      info: {
        Title: title,
        ...(author === null ? {} : { Author: author }),
        Producer: "Billwright",
        Creator: "Billwright",
        CreationDate: new Date(createdAt),
      },
    })
    this.#doc = doc
    const untyped = doc as unknown as Untyped
    // That of pdfkit does not escape texts.
    untyped._addInfo = () => untyped.appendXML(xmpOf(info))
    if (facturX !== undefined) attach(doc, facturX, new Date(createdAt))
    this.width = doc.page.width - MARGIN.left - MARGIN.right
    this.#bottom = doc.page.height - MARGIN.bottom
    this.root = doc.struct("Document")
    doc.addStructure(this.root)
  }

  /** A new part of the structure. */
  part(parent: Part, tag: string): Part {
    const made = this.#doc.struct(tag)
    parent.add(made)
    return made
  }

  /** Whether so much fits on this page. */
  fits(height: number): boolean {
    return this.y + height <= this.#bottom
  }

  /** Begins a new page unless so much fits on this one. Says whether it did. */
  need(height: number): boolean {
    if (this.fits(height)) return false
    this.#doc.addPage()
    this.y = MARGIN.top
    return true
  }

  heightOf({ size }: Look, lines: number): number {
    return lines * size * LINE_HEIGHT
  }

  /** The lines of a text. */
  lines(text: string, look: Look, width: number): ReadonlyArray<string> {
    return this.#breaker(look).lines(text, width)
  }

  widthOf(text: string, look: Look): number {
    return this.#breaker(look).widthOf(text)
  }

  /** Writes lines at a place. They are one part of the structure. */
  write(
    parent: Part,
    tag: string,
    lines: ReadonlyArray<string>,
    look: Look,
    at: { readonly x: number; readonly y: number; readonly width: number },
  ): void {
    const text = lines.join(" ")
    // Letters that are joined and turned around can't be read back from their shapes.
    const made = this.#doc.struct(tag, isRightToLeft(text) ? { actual: text } : {})
    parent.add(made)
    const content = this.#doc.markStructureContent(tag)
    this.#draw(lines, look, at)
    this.#doc.endMarkedContent()
    made.add(content)
  }

  /** Writes what is repeated on pages, which screen readers leave out. */
  repeat(
    lines: ReadonlyArray<string>,
    look: Look,
    at: { readonly x: number; readonly y: number; readonly width: number },
  ): void {
    this.#artifact(() => this.#draw(lines, look, at))
  }

  /** A line across. */
  rule(y: number, color: string, thickness: number, x = this.left, width = this.width): void {
    this.#artifact(() => {
      this.#doc
        .moveTo(x, y)
        .lineTo(x + width, y)
        .lineWidth(thickness)
        .strokeColor(color)
        .stroke()
    })
  }

  /** A filled rectangle. */
  fill(x: number, y: number, width: number, height: number, color: string): void {
    this.#artifact(() => {
      this.#doc.rect(x, y, width, height).fill(color)
    })
  }

  /** The bar at the top of the page. */
  bar(color: string): void {
    this.fill(0, 0, this.#doc.page.width, 5, color)
  }

  /** A picture of at most this size. Returns its height. */
  picture(parent: Part, url: string, alt: string, width: number, height: number): number {
    const image = (this.#doc as unknown as Untyped).openImage(
      Buffer.from(url.slice(url.indexOf(",") + 1), "base64"),
    )
    const scale = Math.min(width / image.width, height / image.height, 1)
    const figure = this.#doc.struct("Figure", { alt })
    parent.add(figure)
    const content = this.#doc.markStructureContent("Figure", {
      bbox: [this.left, this.y, this.left + image.width * scale, this.y + image.height * scale],
    })
    this.#doc.image(image as never, this.left, this.y, {
      width: image.width * scale,
      height: image.height * scale,
    })
    this.#doc.endMarkedContent()
    figure.add(content)
    return image.height * scale
  }

  /** Writes at the foot of every page, and ends the document. */
  async end(footOf: (page: number, pages: number) => string, look: Look): Promise<Uint8Array<ArrayBuffer>> {
    const { count } = this.#doc.bufferedPageRange()
    for (let page = 0; page < count; page++) {
      this.#doc.switchToPage(page)
      this.repeat([footOf(page + 1, count)], look, {
        x: this.left,
        y: this.#bottom + 24,
        width: this.width,
      })
    }
    const chunks: Array<Buffer> = []
    const ended = new Promise<void>((resolve, reject) => {
      this.#doc.on("data", (chunk: Buffer) => void chunks.push(chunk))
      this.#doc.on("end", () => resolve())
      this.#doc.on("error", reject)
    })
    this.#doc.end()
    await ended
    return new Uint8Array(Buffer.concat(chunks))
  }

  #breaker({ size, weight }: Look): Breaker {
    return new Breaker((run) => this.#measure(run, size), weight)
  }

  #use({ font }: Run, size: number): void {
    if (!this.#fonts.has(font.name)) {
      this.#doc.registerFont(font.name, font.read())
      this.#fonts.add(font.name)
    }
    this.#doc.font(font.name).fontSize(size)
  }

  #measure(run: Run, size: number): number {
    // Of size 1, so that a text is measured once.
    const key = `${run.font.name}\n${run.text}`
    const known = this.#widths.get(key)
    if (known !== undefined) return known * size
    this.#use(run, 1)
    const width = this.#doc.widthOfString(run.text)
    this.#widths.set(key, width)
    return width * size
  }

  #draw(
    lines: ReadonlyArray<string>,
    { align = "left", color, size, weight }: Look,
    { width, x, y }: { readonly x: number; readonly y: number; readonly width: number },
  ): void {
    for (const [index, line] of lines.entries()) {
      const runs = runsOf(line, weight)
      const whole = runs.reduce((sum, run) => sum + this.#measure(run, size), 0)
      let at = align === "left" ? x : x + width - whole
      const foot = y + index * size * LINE_HEIGHT + size * ASCENT
      for (const run of runs) {
        this.#use(run, size)
        this.#doc.fillColor(color).text(run.text, at, foot, { lineBreak: false, baseline: "alphabetic" })
        at += this.#measure(run, size)
      }
    }
  }

  #artifact(draw: () => void): void {
    this.#doc.markContent("Artifact")
    draw()
    this.#doc.endMarkedContent()
  }
}
