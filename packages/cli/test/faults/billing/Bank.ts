/**
 * A payment provider in a process of its own: what it took stays, whoever is killed. It prints its URL. Each test has a
 * book of its own there, by the first part of the path.
 *
 * `POST /{book}/open`, `/attempt`, `/read`, `/close`, `/refund` and `/read_refund` are the calls of the port. `GET /{book}`
 * gives all payments. After `POST /{book}/hold`, attempts and refunds are carried out and not answered until
 * `POST /{book}/answer`.
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

interface Book {
  readonly payments: Map<string, Payment>
  /** By our ids. */
  readonly refunds: Map<string, Refund>
  isHolding: boolean
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
}

const books = new Map<string, Book>()

const bookOf = (name: string): Book => {
  const known = books.get(name) ?? {
    payments: new Map(),
    refunds: new Map(),
    isHolding: false,
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

/** A refund counts once, by its id. */
const refund = ({ refunds }: Book, asked: Asked): Refund => {
  const { amount = "", currency = "", paymentReference = "", refundId = "" } = asked
  const known = refunds.get(refundId)
  const reference = `refund_${refunds.size + 1}`
  const made = {
    reference,
    paymentReference,
    refundId,
    amount,
    currency,
    status: "succeeded",
    code: null,
  } as const
  if (known === undefined) refunds.set(refundId, made)
  return known ?? made
}

const findRefund = ({ refunds }: Book, asked: Asked): Refund | null =>
  [...refunds.values()].find(
    ({ reference, refundId }) => reference === asked.reference || refundId === asked.refundId,
  ) ?? null

const everythingIn = ({ payments, refunds }: Book) =>
  [...payments.values()].map((payment) => ({
    ...payment,
    refunds: [...refunds.values()].filter(({ paymentReference }) => paymentReference === payment.reference),
  }))

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
      const answerLater = (stated: unknown) => {
        if (book.isHolding) book.waiting.push(() => answer(response, stated))
        else answer(response, stated)
      }
      if (request.method === "GET") return answer(response, everythingIn(book))
      if (call === "refund") return answerLater(refund(book, asked))
      if (call === "read_refund") return answer(response, findRefund(book, asked))
      if (call === "open") return answer(response, open(book, asked))
      if (call === "hold") book.isHolding = true
      if (call === "answer") {
        book.isHolding = false
        for (const release of book.waiting.splice(0)) release()
      }
      if (payment === undefined) return answer(response, {})
      if (call === "read") return answer(response, stateOf(payment))
      if (call === "close") return answer(response, close(payment))
      answerLater(attempt(payment, asked.attemptId ?? ""))
    })
})

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
