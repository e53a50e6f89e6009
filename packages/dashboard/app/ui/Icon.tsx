/**
 * The icons of the dashboard: strokes on a grid of 16, in the colour of the surrounding text.
 */
import type { ReactNode } from "react"

const DRAWINGS = {
  brand: <path d="M3 12.5V7M8 12.5v-9M13 12.5V9.5" strokeWidth="2.4" />,
  overview: <path d="M2.5 8.5h4v5h-4zM9.5 2.5h4v11h-4zM2.5 2.5h4v3h-4z" />,
  events: <path d="M8.8 1.8 3.5 9.2h4l-.6 5 5.6-7.6H8.3z" />,
  deliveries: <path d="M1.8 8h3.4M3 4.6h3M3 11.4h3M7.5 3.4 14.2 8l-6.7 4.6z" />,
  endpoints: (
    <path d="M6.2 9.8 9.8 6.2M7 4.6l1.5-1.5a2.9 2.9 0 0 1 4.1 4.1L11.2 8.7M9 11.4l-1.5 1.5a2.9 2.9 0 0 1-4.1-4.1l1.4-1.5" />
  ),
  usage: <path d="M2 13.5h12M3.8 11V7.5M6.6 11V4M9.4 11V6M12.2 11V2.5" />,
  customers: (
    <path d="M6 7.6a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8ZM1.8 13.2c.3-2.4 2-3.8 4.2-3.8s3.9 1.4 4.2 3.8M10.6 3a2.3 2.3 0 0 1 0 4.4M11.8 9.7c1.4.5 2.2 1.7 2.4 3.5" />
  ),
  invoices: <path d="M3.5 1.8h9v12.4l-2.25-1.5L8 14.2l-2.25-1.5-2.25 1.5zM6 5h4M6 8h4" />,
  subscriptions: (
    <path d="M13 6.2A5.3 5.3 0 0 0 3.4 5M3 9.8A5.3 5.3 0 0 0 12.6 11M13.2 2.8v3.4H9.8M2.8 13.2V9.8h3.4" />
  ),
  payments: <path d="M1.8 3.5h12.4v9H1.8zM1.8 6.5h12.4M4 10h3" />,
  money: <path d="M1.8 4h12.4v8H1.8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM4 8h.1M12 8h.1" />,
  plans: <path d="M2.5 2.5h5.3l6 6-5.3 5.3-6-6zM5.3 5.3v.1" />,
  audit: <path d="M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3" />,
  clocks: <path d="M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM8 4.8V8l2.4 1.6" />,
  search: <path d="M7 11.8a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6ZM10.6 10.6 14 14" />,
  copy: <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />,
  check: <path d="m3 8.4 3.2 3.2L13 4.6" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  replay: <path d="M2.8 6.5A5.5 5.5 0 1 1 2.5 9M2.5 2.8v3.9h3.9" />,
  theme: (
    <>
      <path d="M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Z" />
      <path d="M8 2.5v11a5.5 5.5 0 0 0 0-11Z" fill="currentColor" />
    </>
  ),
  help: (
    <path d="M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM6.3 6.3a1.8 1.8 0 1 1 2.5 1.8c-.5.2-.8.6-.8 1.1v.2M8 11.3v.1" />
  ),
  signOut: <path d="M6.5 2.5h-4v11h4M6.5 8h7M10.8 5.2 13.6 8l-2.8 2.8" />,
  plus: <path d="M8 3v10M3 8h10" />,
  back: <path d="M13 8H3M6.8 4.2 3 8l3.8 3.8" />,
  warning: <path d="M8 2.2 14.5 13.5h-13zM8 6.5v3.4M8 11.6v.1" />,
  delivered: (
    <>
      <circle cx="8" cy="8" fill="currentColor" r="6.2" />
      <path className="icon-inside" d="m5.2 8.2 2 2 3.6-4" />
    </>
  ),
  pending: (
    <>
      <circle cx="8" cy="8" r="5.6" strokeDasharray="2.6 1.8" />
      <path d="M8 5v3.2l2 1.2" />
    </>
  ),
  failed: (
    <>
      <path d="M8 1.2 14.8 8 8 14.8 1.2 8z" fill="currentColor" />
      <path className="icon-inside" d="m6.1 6.1 3.8 3.8M9.9 6.1 6.1 9.9" />
    </>
  ),
  off: (
    <>
      <circle cx="8" cy="8" r="5.6" />
      <path d="M5 8h6" />
    </>
  ),
  live: <circle cx="8" cy="8" fill="currentColor" r="4.5" />,
  test: <path d="M6 2.2h4M6.8 2.2v4L3 12.4c-.4.7 0 1.4.8 1.4h8.4c.8 0 1.2-.7.8-1.4L9.2 6.2v-4M5 10h6" />,
} as const satisfies Readonly<Record<string, ReactNode>>

export type IconName = keyof typeof DRAWINGS

/** An icon beside a word. It is hidden from screen readers, because the word says the same. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg aria-hidden="true" className="icon" viewBox="0 0 16 16">
    {DRAWINGS[name]}
  </svg>
)
