/**
 * What an action on a subscription would bill.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useDeferredValue } from "react"
import type { Client } from "../api/Client.ts"
import type { Invoice, SubscriptionPreview } from "../api/Types.ts"
import { InvoiceLines } from "../invoices/InvoiceLines.tsx"
import { useSession } from "../session/Session.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Skeleton } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Period } from "../ui/Period.tsx"

interface PreviewProps<B> {
  /** What is asked for. The preview is loaded again when it changes. */
  readonly body: B
  readonly load: (client: Client, body: B, signal: AbortSignal) => Promise<SubscriptionPreview>
}

const Previewed = ({ invoice, title }: { readonly invoice: Invoice; readonly title: string }) => (
  <details className="previewed">
    <summary>
      <span className="grow">
        {title}
        {invoice.period_start !== null && (
          <span className="muted">
            {" "}
            <Period end={invoice.period_end} start={invoice.period_start} />
          </span>
        )}
      </span>
      <Amount amount={invoice.total} currency={invoice.currency} />
    </summary>
    <InvoiceLines invoice={invoice} isStored={false} />
  </details>
)

const Result = ({ preview }: { readonly preview: SubscriptionPreview }) => (
  <>
    {preview.invoices.length === 0 && <p>Nothing is billed at once.</p>}
    {preview.invoices.map((invoice) => (
      <Previewed invoice={invoice} key={invoice.id} title="Billed at once" />
    ))}
    {preview.next_invoice === null ? (
      <p>No invoice comes after that.</p>
    ) : (
      <Previewed invoice={preview.next_invoice} title="Next invoice" />
    )}
  </>
)

export const PreviewedMoney = <B,>({ body, load }: PreviewProps<B>) => {
  const { client } = useSession()
  const asked = useDeferredValue(JSON.stringify(body))
  const query = useQuery({
    queryKey: ["subscriptions", "preview", asked],
    queryFn: ({ signal }) => load(client, JSON.parse(asked) as B, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
  return (
    <section aria-labelledby="preview-title" aria-live="polite" className="preview">
      <h3 id="preview-title">What it bills</h3>
      {query.isError && <ErrorNotice error={query.error} />}
      {query.isPending && <Skeleton lines={2} />}
      {query.data !== undefined && !query.isError && <Result preview={query.data} />}
    </section>
  )
}
