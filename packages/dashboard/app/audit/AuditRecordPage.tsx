import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import type { AuditRecord } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { destination } from "../shell/Destination.ts"
import { Identifier } from "../ui/Identifier.tsx"
import { JsonText } from "../ui/JsonText.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { actorOf } from "./Actor.ts"

/** A fact that may be unknown. */
const Fact = ({ name, value }: { readonly name: string; readonly value: string | null }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value === null ? <span className="muted">unknown</span> : <code>{value}</code>}</dd>
  </div>
)

const Facts = ({ record }: { readonly record: AuditRecord }) => {
  const page = /^[a-z]{3}_/.test(record.object_id) ? destination(record.object_id) : undefined
  return (
    <dl className="facts">
      <div>
        <dt>Object</dt>
        <dd>
          {page === undefined ? (
            <Identifier id={record.object_id} />
          ) : (
            <Link href={page}>{record.object_id}</Link>
          )}
        </dd>
      </div>
      <div>
        <dt>By</dt>
        <dd>{actorOf(record)}</dd>
      </div>
      <div>
        <dt>Made</dt>
        <dd>
          <Time at={record.created_at} isWhole />
        </dd>
      </div>
      <Fact name="From" value={record.ip} />
      <Fact name="User agent" value={record.user_agent} />
      <Fact name="Request" value={record.request_id} />
      {record.left_out.length > 0 && <Fact name="Changed, not shown" value={record.left_out.join(", ")} />}
    </dl>
  )
}

const State = ({
  id,
  title,
  value,
}: {
  readonly id: string
  readonly title: string
  readonly value: unknown
}) => (
  <section aria-labelledby={id} className="section">
    <header className="section-header">
      <h2 id={id}>{title}</h2>
    </header>
    {value === null ? <p className="muted">There was none.</p> : <JsonText label={title} value={value} />}
  </section>
)

/** One change: who made it, and what was before and after. */
export const AuditRecordPage = ({ id }: { readonly id: string }) => {
  const { client } = useSession()
  const query = useQuery({
    queryKey: ["audit", "one", id],
    queryFn: ({ signal }) => client.call("get", "/v1/audit_log/{id}", { path: { id }, signal }),
  })
  return (
    <Page title={query.data?.action ?? "Change"} up={{ href: "/audit-log", label: "Audit log", id }}>
      <Loaded lines={10} query={query}>
        {(record) => (
          <>
            <Facts record={record} />
            <div className="columns">
              <State id="before" title="Before" value={record.before} />
              <State id="after" title="After" value={record.after} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}
