import type { PaymentMethod } from "../api/Types.ts"
import { CutNote } from "../ui/CutNote.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { StateBadge } from "../ui/StateBadge.tsx"
import { METHODS, methodName } from "./PaymentStates.ts"
import { useMethods } from "./useMethods.ts"

const expiryText = ({ expiring_since: expiring, expiry, failure_code: code }: PaymentMethod): string => {
  if (code !== null) return `failed: ${code}`
  if (expiry === null) return ""
  const until = `${String(expiry.month).padStart(2, "0")}/${expiry.year}`
  return expiring === null ? `until ${until}` : `expires ${until}`
}

/** The payment methods of a customer. */
export const MethodLines = ({ customerId }: { readonly customerId: string }) => (
  <Loaded lines={1} query={useMethods(customerId)}>
    {({ data, has_more: isCut }) =>
      data.length === 0 ? (
        <p className="muted">None. The customer saves one on a page of the payment provider.</p>
      ) : (
        <>
          <ul className="lines">
            {data.map((method) => (
              <li className="line" key={method.id}>
                <span className="line-state wide">
                  <StateBadge tone={METHODS[method.status][0]} word={METHODS[method.status][1]} />
                </span>
                <span className="grow two-lines">
                  <span className="strong">{methodName(method)}</span>
                  <span className="muted">{expiryText(method)}</span>
                </span>
                {method.is_default && <span className="muted">default</span>}
              </li>
            ))}
          </ul>
          <CutNote count={data.length} isCut={isCut} />
        </>
      )
    }
  </Loaded>
)
