/**
 * The subscriptions and invoices in the payloads of events.
 */
import { Tenant } from "@billwright/core"
import type { Books } from "./Books.ts"

export interface Snapshot {
  readonly tenant: Tenant.Tenant
  readonly type: string
  readonly sequence: number
  readonly currency: string
  /** Of a subscription. */
  readonly phase: string | undefined
  /** Of an invoice, as text. */
  readonly total: string | undefined
  /** Of an invoice. */
  readonly status: string | undefined
  /** The object as it is in the payload. */
  readonly object: Readonly<Record<string, unknown>>
}

interface Payload {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const objectOf = ({ data, type }: Payload): Readonly<Record<string, unknown>> | undefined =>
  data[type.slice(0, type.indexOf("."))] as Readonly<Record<string, unknown>> | undefined

/** The snapshots in all events, by tenant and id of the object, in the order of the events. */
export const readSnapshots = ({ events }: Books): ReadonlyMap<string, ReadonlyArray<Snapshot>> => {
  const all = new Map<string, Array<Snapshot>>()
  for (const { event, tenant } of events) {
    const payload = JSON.parse(event.payload) as Payload
    const object = objectOf(payload)
    if (object === undefined) continue
    const name = `${Tenant.tenantKey(tenant)} ${String(object["id"])}`
    const of = all.get(name) ?? []
    of.push({
      tenant,
      type: payload.type,
      sequence: Number(object["sequence"]),
      currency: String(object["currency"]),
      phase: object["phase"] as string | undefined,
      total: object["total"] === undefined ? undefined : String(object["total"]),
      status: object["status"] as string | undefined,
      object,
    })
    all.set(name, of)
  }
  return all
}

interface NotePayload {
  readonly type: string
  readonly data: {
    readonly credit_note_id: string
    readonly invoice_id: string
    readonly total: string | number
    readonly invoice: { readonly sequence: number }
  }
}

/** The event of a credit note. */
export interface NoteSnapshot {
  readonly id: string
  readonly total: string
  /** The sequence of its invoice afterwards. */
  readonly sequence: number
}

/** The events of credit notes, by tenant and id of the invoice. */
export const readNotes = ({ events }: Books): ReadonlyMap<string, ReadonlyArray<NoteSnapshot>> => {
  const all = new Map<string, Array<NoteSnapshot>>()
  for (const { event, tenant } of events) {
    const { data, type } = JSON.parse(event.payload) as NotePayload
    if (type !== "credit_note.created") continue
    const { credit_note_id: id, invoice, total } = data
    const name = `${Tenant.tenantKey(tenant)} ${data.invoice_id}`
    const of = all.get(name) ?? []
    of.push({ id, total: String(total), sequence: invoice.sequence })
    all.set(name, of)
  }
  return all
}
