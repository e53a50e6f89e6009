import * as ExactJson from "../api/ExactJson.ts"
import type { EventWithDeliveries } from "../api/Types.ts"
import * as Curl from "../Curl.ts"
import { apiAddress } from "../shell/ApiAddress.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { JsonText } from "../ui/JsonText.tsx"
import { payloadOf } from "./Payload.ts"

/** The payload that receivers get. */
export const PayloadSection = ({ event }: { readonly event: EventWithDeliveries }) => {
  const payload = payloadOf(event)
  return (
    <section aria-labelledby="payload-title" className="section">
      <header className="section-header">
        <h2 id="payload-title">Payload</h2>
        <CopyButton label="Copy JSON" text={ExactJson.stringify(payload)} />
        <CopyButton
          label="Copy as cURL"
          text={Curl.apiCurl(apiAddress(), "GET", `/events/${encodeURIComponent(event.id)}`)}
        />
      </header>
      <JsonText label="Payload of the event" value={payload} />
    </section>
  )
}
