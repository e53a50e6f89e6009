/**
 * What an action on a subscription would bill.
 */
import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import { useDeferredValue } from "react"
import type { Client } from "../api/Client.ts"
import type { Invoice, SubscriptionPreview } from "../api/Types.ts"
import { InvoiceLines } from "../invoices/InvoiceLines.tsx"
import { type Previewed, ServicePeriod } from "../invoices/ServicePeriod.tsx"
import { useSession } from "../session/Session.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Skeleton } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"

interface PreviewOptions<B> {
  /** What is asked for. The preview is loaded again when it changes. `undefined` while it is incomplete. */
  readonly body: B | undefined
  readonly load: (client: Client, body: B, signal: AbortSignal) => Promise<SubscriptionPreview>
}

interface PreviewState {
  readonly isAsked: boolean
  /** Whether the money of the current choice is not known yet. Nobody should press the button before. */
  readonly isLoading: boolean
  readonly query: UseQueryResult<SubscriptionPreview>
}

/** The preview of the current choice. That of an earlier choice is not shown, because it says other money. */
export const usePreview = <B,>({ body, load }: PreviewOptions<B>): PreviewState => {
  const { client } = useSession()
  const current = body === undefined ? undefined : JSON.stringify(body)
  const asked = useDeferredValue(current)
  const query = useQuery({
    queryKey: ["subscriptions", "preview", asked],
    queryFn: ({ signal }) => load(client, JSON.parse(asked ?? "null") as B, signal),
    enabled: asked !== undefined,
    retry: false,
    gcTime: 0,
  })
  const isAsked = current !== undefined
  return { isAsked, isLoading: isAsked && (asked !== current || query.isPending), query }
}

const PreviewedInvoice = ({
  invoice,
  subscription,
  title,
}: {
  readonly invoice: Invoice
  readonly subscription: Previewed
  readonly title: string
}) => (
  <details className="previewed">
    <summary>
      <span className="grow">
        {title}
        {invoice.period_start !== null && (
          <span className="muted">
            {" "}
            <ServicePeriod
              end={invoice.period_end}
              previewed={subscription}
              start={invoice.period_start}
              subscriptionId={invoice.subscription_id}
            />
          </span>
        )}
      </span>
      <Amount amount={invoice.total} currency={invoice.currency} />
    </summary>
    <InvoiceLines invoice={invoice} isStored={false} previewed={subscription} />
  </details>
)

const Result = ({
  preview: { invoices, next_invoice: next, subscription },
}: {
  readonly preview: SubscriptionPreview
}) => (
  <>
    {invoices.length === 0 && <p>Nothing is billed at once.</p>}
    {invoices.map((invoice) => (
      <PreviewedInvoice
        invoice={invoice}
        key={invoice.id}
        subscription={subscription}
        title="Billed at once"
      />
    ))}
    {next === null ? (
      <p>No invoice comes after that.</p>
    ) : (
      <PreviewedInvoice invoice={next} subscription={subscription} title="Next invoice" />
    )}
  </>
)

const State = ({ isLoading, query }: PreviewState) => {
  if (isLoading) return <Skeleton lines={2} />
  if (query.isError) return <ErrorNotice error={query.error} />
  return query.data === undefined ? null : <Result preview={query.data} />
}

export const PreviewedMoney = ({ preview }: { readonly preview: PreviewState }) =>
  preview.isAsked && (
    <section aria-labelledby="preview-title" aria-live="polite" className="preview">
      <h3 id="preview-title">What it bills</h3>
      <State {...preview} />
    </section>
  )
