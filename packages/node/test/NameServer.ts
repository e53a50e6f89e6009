/**
 * A name server (RFC 1035, section 4) on loopback. A test scripts its answers and reads its questions.
 */
import { createSocket } from "node:dgram"

/** Types of questions. */
export const [A, AAAA] = [1, 28]
/** Codes of answers. */
const NO_ERROR = 0
export const NAME_ERROR = 3

/** The bytes of an address. */
type Address = ReadonlyArray<number>

/** The answer of the name server for a name and a type of question. Without a result it doesn't answer. */
export type Answer = (
  type: number,
) => { readonly code: number; readonly addresses?: ReadonlyArray<Address> } | undefined

/** Answers with these addresses, and with no addresses for the other type. */
export const only =
  (wanted: number, ...addresses: ReadonlyArray<Address>): Answer =>
  (type) => ({ code: NO_ERROR, ...(type === wanted ? { addresses } : {}) })

export class NameServer {
  readonly #socket = createSocket("udp4")
  readonly #answers = new Map<string, Answer>()
  readonly asked: Array<string> = []
  #onAsked: () => void = () => {}

  start(): Promise<void> {
    this.#socket.on("message", (query, peer) => {
      const [name, end] = nameIn(query)
      const type = query.readUInt16BE(end)
      this.asked.push(name)
      this.#onAsked()
      const answer = this.#answers.get(name)?.(type)
      if (answer !== undefined) this.#socket.send(reply(query.subarray(0, end + 4), type, answer), peer.port)
    })
    return new Promise((resolve) => this.#socket.bind(0, "127.0.0.1", resolve))
  }

  says(name: string, answer: Answer): void {
    this.#answers.set(name, answer)
  }

  /** Waits until this many questions have arrived. */
  async askedFor(count: number): Promise<void> {
    while (this.asked.length < count) {
      await new Promise<void>((resolve) => {
        this.#onAsked = resolve
      })
    }
  }

  /** `address:port`. */
  get server(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  stop(): void {
    this.#socket.close()
  }
}

/** The name of a question, and the position of its end. */
const nameIn = (query: Buffer): readonly [string, number] => {
  const labels: Array<string> = []
  let at = 12
  for (; query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!))
  return [labels.join(".").toLowerCase(), at + 1]
}

/** The name of the question again, and a time to live of 0. */
const [NAME, TTL] = [
  [0xc0, 12],
  [0, 0, 0, 0],
]

/** A record with an address, for the class Internet. */
const recordOf = (type: number, address: Address): ReadonlyArray<number> =>
  [NAME, [0, type], [0, 1], TTL, [0, address.length], address].flat()

const reply = (
  question: Buffer,
  type: number,
  { addresses = [], code }: NonNullable<ReturnType<Answer>>,
): Buffer => {
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180 | code, 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt32BE(0, 8) // no other sections, even if the question has some
  const records = addresses.flatMap((address) => recordOf(type, address))
  return Buffer.concat([header, question.subarray(12), Buffer.from(records)])
}
