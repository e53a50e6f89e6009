import type { Customer } from "@billwright/core"

export interface Order {
  readonly id: string
  readonly customerId: Customer.CustomerId
  readonly product: string
  readonly credits: number
}

export const CREATE_ORDERS = `create table if not exists orders (
  id uuid primary key,
  customer_id text not null,
  product text not null,
  credits bigint not null
)`
