import { useQuery } from "@tanstack/react-query"
import type { Invoice } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"

/** How often an invoice that is shown is loaded again: payments come by themselves, and a draft follows usage. */
const REFRESH_MILLIS = 5_000
const FINAL: ReadonlySet<Invoice["status"]> = new Set(["paid", "void"])
/** The most payments or credit notes of an invoice that are shown. */
const SHOWN = 50

export const useInvoice = (id: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["invoices", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/invoices/{id}", { path: { id }, signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && FINAL.has(state.data.status) ? false : REFRESH_MILLIS,
  })
}

export const useCreditNotes = (invoiceId: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["invoices", "credit_notes", invoiceId],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/credit_notes", { query: { invoice_id: invoiceId, limit: SHOWN }, signal }),
  })
}
