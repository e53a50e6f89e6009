/**
 * The text form of ids, and ids that the database generates.
 */
import { millis } from "../Millis.ts"
import { define } from "./SqlFunction.ts"

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/** 128 bits in 26 characters of 5 bits each. The first two bits are zero. */
export const formatId = define(
  "format_id",
  () => `(p_prefix text, p_uuid uuid) returns text language sql immutable strict as $$
  select p_prefix || '_' || string_agg(
    substr('${ALPHABET}', substring(b.bits from 5 * n + 1 for 5)::integer + 1, 1), '' order by n)
  from (select B'00' || ('x' || replace(p_uuid::text, '-', ''))::bit(128)) as b (bits), generate_series(0, 25) as n
$$`,
)

export const parseId = define(
  "parse_id",
  () => `(p_prefix text, p_id text) returns uuid language sql immutable strict as $$
  select string_agg(lpad(to_hex(substring(b.bits from 8 * n + 3 for 8)::integer), 2, '0'), '' order by n)::uuid
  from (
    select string_agg((strpos('${ALPHABET}', substr(p_id, char_length(p_prefix) + 1 + i, 1)) - 1)::bit(5)::text, ''
      order by i)::bit varying(130)
    from generate_series(1, 26) as i
  ) as b (bits), generate_series(0, 15) as n
  where p_id ~ ('^' || p_prefix || '_[0-7][0-9a-hjkmnp-tv-z]{25}$')
$$`,
)

/** RFC 9562: 48 bits of milliseconds, the version, and random bits. gen_random_uuid already sets the variant bits. */
export const makeUuidV7 = define(
  "make_uuid_v7",
  () => `(p_at timestamptz) returns uuid language sql volatile strict as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(${millis("p_at")}) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid
$$`,
)

/** The SQL of `offset_id`, for statements in which calling a function for each row takes long. */
export const offsetOf = (id: string, distance: string): string =>
  `(left(${id}::text, 24) || lpad(to_hex(
    (('x' || right(${id}::text, 12))::bit(48)::bigint + ${distance}) & 281474976710655), 12, '0'))::uuid`

/** `Id.offset`: the last 48 bits of an id are the last 12 digits of its text. */
export const offsetId = define(
  "offset_id",
  () => `(p_id uuid, p_distance bigint) returns uuid language sql immutable strict as $$
  select ${offsetOf("p_id", "p_distance")}
$$`,
)
