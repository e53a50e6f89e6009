/**
 * Coupons, and redemptions by subscriptions.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Redemptions belong to customers, but a limit of a coupon spans all of them. So they are found by their id, as the other
 * catalogue of an account is.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

const instant = (name: string, rest = ""): string => `${name} timestamptz(3)${rest} check (isfinite(${name}))`

export const migration0011: Migration = {
  id: 11,
  name: "coupons",
  minReader: 1,
  statements: (schema: SchemaName) => [
    `create table ${schema}.coupons (
  ${accountAndMode},
  id uuid not null,
  code text collate "C" not null check (char_length(code) between 1 and 40),
  name text not null check (char_length(name) between 1 and 200),
  percent text collate "C",
  amount jsonb check (jsonb_typeof(amount) = 'object'),
  duration text collate "C" not null check (duration in ('once', 'periods', 'forever')),
  periods jsonb check (jsonb_typeof(periods) = 'number'),
  plans jsonb check (jsonb_typeof(plans) = 'array'),
  charges jsonb check (jsonb_typeof(charges) = 'array'),
  carry jsonb not null check (jsonb_typeof(carry) = 'boolean'),
  max_redemptions jsonb check (jsonb_typeof(max_redemptions) = 'number'),
  max_redemptions_per_customer jsonb check (jsonb_typeof(max_redemptions_per_customer) = 'number'),
  ${instant("redeem_from")},
  ${instant("redeem_before")},
  times_redeemed jsonb not null check (jsonb_typeof(times_redeemed) = 'number'),
  ${instant("archived_at")},
  ${instant("created_at", " not null")},
  primary key (account_id, mode, id),
  constraint coupons_code unique (account_id, mode, code),
  constraint coupons_limit check (times_redeemed::numeric <= max_redemptions::numeric)
)`,
    `create table ${schema}.redemptions (
  ${accountAndMode},
  id uuid not null,
  coupon text collate "C" not null check (char_length(coupon) between 1 and 40),
  coupon_id uuid not null,
  customer_id uuid not null,
  subscription_id uuid not null,
  currency text collate "C" not null check (char_length(currency) between 1 and 3),
  terms jsonb not null check (jsonb_typeof(terms) = 'object'),
  ${instant("ended_at")},
  ${instant("created_at", " not null")},
  primary key (account_id, mode, id)
)`,
    `create index redemptions_coupon on ${schema}.redemptions (account_id, mode, coupon_id, customer_id, id)`,
    `create index redemptions_customer on ${schema}.redemptions (account_id, mode, customer_id, id)`,
    `create index redemptions_subscription on ${schema}.redemptions (account_id, mode, subscription_id, id)`,
  ],
}
