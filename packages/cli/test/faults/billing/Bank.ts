/**
 * A payment provider in a process of its own: what it took stays, whoever is killed. It prints its URL. Each test has a
 * book of its own there, by the first part of the path.
 *
 * `POST /{book}/open`, `/attempt`, `/read`, `/close`, `/refund`, `/read_refund` and `/read_dispute` are the calls of the
 * port. `GET /{book}` gives all payments. After `POST /{book}/hold`, attempts and refunds are carried out and not answered
 * until `POST /{book}/answer`; after `/stall`, they are not carried out before that either. `/waiting` gives how many wait.
 * `/copy` copies another book, `/dispute` has the customer dispute what is left of a payment, and `/decide` decides all
 * disputes.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"

interface Payment {
  readonly reference: string
  readonly invoiceId: string
  readonly amount: string
  /** The ids of the attempts that arrived, each as often as it did. */
  readonly arrived: Array<string>
  charges: number
  isClosed: boolean
}

interface Refund {
  readonly reference: string
  readonly paymentReference: string
  readonly refundId: string
  readonly amount: string
  readonly currency: string
  readonly status: "succeeded"
  readonly code: null
}

/** A refund that the bank does not make: there is not so much left of the payment. It stays refused. */
interface Refused extends Omit<Refund, "reference" | "status" | "code"> {
  readonly reference: null
  readonly status: "failed"
  readonly code: string
}

interface Dispute {
  readonly reference: string
  readonly paymentReference: string
  readonly amount: string
  readonly currency: string
  readonly reason: string
  readonly respondBy: null
  readonly status: "open" | "won" | "lost"
}

interface Book {
  readonly payments: Map<string, Payment>
  /** By our ids. */
  readonly refunds: Map<string, Refund>
  readonly refused: Map<string, Refused>
  readonly disputes: Map<string, Dispute>
  /** `holding`: what arrives is carried out and not answered. `stalling`: it is not carried out either. */
  pace: "prompt" | "holding" | "stalling"
  readonly waiting: Array<() => void>
}

interface Asked {
  readonly reference?: string
  readonly attemptId?: string
  readonly paymentId?: string
  readonly invoiceId?: string
  readonly amount?: string
  readonly currency?: string
  readonly paymentReference?: string
  readonly refundId?: string
  readonly from?: string
  readonly status?: "won" | "lost"
}

const books = new Map<string, Book>()

const bookOf = (name: string): Book => {
  const known: Book = books.get(name) ?? {
    payments: new Map(),
    refunds: new Map(),
    refused: new Map(),
    disputes: new Map(),
    pace: "prompt",
    waiting: [],
  }
  books.set(name, known)
  return known
}

const open = ({ payments }: Book, { amount = "", invoiceId = "", paymentId = "" }: Asked) => {
  const reference = `bank_${paymentId}`
  const known = payments.get(reference)
  if (known === undefined) {
    payments.set(reference, { reference, invoiceId, amount, arrived: [], charges: 0, isClosed: false })
  }
  return { reference }
}

const stateOf = ({ charges }: Payment) => ({ status: charges > 0 ? "succeeded" : "open" })

const attempt = (payment: Payment, attemptId: string) => {
  payment.arrived.push(attemptId)
  if (payment.charges === 0 && !payment.isClosed) payment.charges++
  return stateOf(payment)
}

const close = (payment: Payment) => {
  if (payment.charges > 0) return { answer: "already_succeeded" }
  payment.isClosed = true
  return { answer: "closed" }
}

/** What of a payment has not gone back, and is not disputed. */
const leftOf = ({ disputes, payments, refunds }: Book, reference: string): bigint => {
  const gone = [...refunds.values(), ...[...disputes.values()].filter(({ status }) => status !== "won")]
  const taken = payments.get(reference)
  return gone
    .filter(({ paymentReference }) => paymentReference === reference)
    .reduce((left, { amount }) => left - BigInt(amount), BigInt(taken?.charges === 1 ? taken.amount : 0))
}

/** A refund counts once, by its id. */
const refund = (book: Book, asked: Asked): Refund | Refused => {
  const { amount = "", currency = "", paymentReference = "", refundId = "" } = asked
  const known = book.refunds.get(refundId) ?? book.refused.get(refundId)
  if (known !== undefined) return known
  const about = { paymentReference, refundId, amount, currency }
  if (BigInt(amount) > leftOf(book, paymentReference)) {
    const refused: Refused = { ...about, reference: null, status: "failed", code: "amount_too_large" }
    book.refused.set(refundId, refused)
    return refused
  }
  const reference = `refund_${book.refunds.size + 1}`
  const made: Refund = { ...about, reference, status: "succeeded", code: null }
  book.refunds.set(refundId, made)
  return made
}

const dispute = (book: Book, paymentReference: string) => {
  const amount = leftOf(book, paymentReference)
  if (amount <= 0n) return
  const reference = `dispute_${book.disputes.size + 1}`
  const opened = { reference, paymentReference, currency: "EUR", reason: "fraudulent", respondBy: null }
  book.disputes.set(reference, { ...opened, amount: String(amount), status: "open" })
}

const decide = ({ disputes }: Book, status: "won" | "lost") => {
  for (const one of disputes.values()) disputes.set(one.reference, { ...one, status })
}

const findRefund = ({ refunds }: Book, asked: Asked): Refund | null =>
  [...refunds.values()].find(
    ({ reference, refundId }) => reference === asked.reference || refundId === asked.refundId,
  ) ?? null

const everythingIn = ({ disputes, payments, refunds, refused }: Book) =>
  [...payments.values()].map((payment) => {
    const own = <A extends { readonly paymentReference: string }>(all: Map<string, A>) =>
      [...all.values()].filter(({ paymentReference }) => paymentReference === payment.reference)
    return { ...payment, refunds: own(refunds), refused: own(refused), disputes: own(disputes) }
  })

/** What a test does to a book. `false`: it is something else. */
const isOrder = (book: Book, name: string, call: string, asked: Asked): boolean => {
  const { from = "", reference = "", status = "lost" } = asked
  switch (call) {
    case "copy":
      books.set(name, structuredClone(bookOf(from)))
      return true
    case "dispute":
      dispute(book, reference)
      return true
    case "decide":
      decide(book, status)
      return true
    case "hold":
    case "stall":
      book.pace = call === "hold" ? "holding" : "stalling"
      return true
    case "answer":
      book.pace = "prompt"
      for (const release of book.waiting.splice(0)) release()
      return true
    default:
      return false
  }
}

const answer = (response: ServerResponse, body: unknown): void => {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(body))
}

const server = createServer((request, response) => {
  void json(request)
    .catch(() => ({}))
    .then((body) => {
      const [, name = "", call = ""] = (request.url ?? "").split("/")
      const book = bookOf(name)
      const asked = body as Asked
      const payment = book.payments.get(asked.reference ?? "")
      /** Carries out what moves money, as fast as the book is told to. */
      const moving = (carryOut: () => unknown) => {
        if (book.pace === "prompt") return answer(response, carryOut())
        if (book.pace === "stalling") return void book.waiting.push(() => answer(response, carryOut()))
        const stated = carryOut()
        book.waiting.push(() => answer(response, stated))
      }
      if (request.method === "GET") return answer(response, everythingIn(book))
      if (isOrder(book, name, call, asked)) return answer(response, {})
      if (call === "waiting") return answer(response, { waiting: book.waiting.length })
      if (call === "refund") return moving(() => refund(book, asked))
      if (call === "read_refund") return answer(response, findRefund(book, asked))
      if (call === "read_dispute") return answer(response, book.disputes.get(asked.reference ?? "") ?? null)
      if (call === "open") return answer(response, open(book, asked))
      if (payment === undefined) return answer(response, {})
      if (call === "read") return answer(response, stateOf(payment))
      if (call === "close") return answer(response, close(payment))
      moving(() => attempt(payment, asked.attemptId ?? ""))
    })
})

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
