-- What a charge costs, computed with Postgres `numeric` alone.
--
-- A quantity is `p / d`, where `d` is the divisor of a conversion that does not round, and an amount is `n / den`. So
-- nothing is divided before the end, where 100 digits are kept: no denominator is near 10^100, so the amount rounded
-- from them is the amount rounded from the fraction.

create function pg_temp.ceiling_of(n numeric, divisor numeric) returns numeric language sql immutable as $$
  select div(n, divisor) + case when mod(n, divisor) > 0 then 1 else 0 end
$$;

create function pg_temp.price(prices jsonb, currency text) returns numeric language sql immutable as $$
  select coalesce((prices ->> currency)::numeric, 0)
$$;

create function pg_temp.converted(quantity numeric, divisor numeric, rounding text) returns numeric
language sql immutable as $$
  select case rounding
    when 'up' then pg_temp.ceiling_of(quantity, divisor)
    when 'down' then div(quantity, divisor)
    when 'half_up' then div(2 * quantity + divisor, 2 * divisor)
    else quantity
  end
$$;

create function pg_temp.rated(c jsonb, out amount text, out exact text, out cut text) language plpgsql as $$
declare
  charge constant jsonb := c -> 'charge';
  model constant text := charge ->> 'model';
  currency constant text := c ->> 'currency';
  digits constant integer := (c ->> 'digits')::integer;
  minor constant numeric := ('1e' || digits)::numeric;
  divisor constant numeric := coalesce((charge #>> '{convert,divide_by}')::numeric, 1);
  rounding constant text := coalesce(charge #>> '{convert,round}', 'none');
  d constant numeric := case rounding when 'none' then divisor else 1 end;
  free constant numeric := d * coalesce((charge ->> 'free')::numeric, 0);
  numerator constant numeric := (c #>> '{share,0}')::numeric;
  denominator constant numeric := (c #>> '{share,1}')::numeric;
  is_prorated constant boolean := model = 'flat' or charge ->> 'timing' = 'advance' or charge ? 'quantity';
  p numeric := greatest(pg_temp.converted((c ->> 'quantity')::numeric, divisor, rounding) - free, 0);
  n numeric := 0;
  den numeric := d;
  low numeric := 0;
  high numeric;
  slice numeric;
  is_first boolean := true;
  left_free numeric := free;
  used numeric;
  of_record numeric;
  element jsonb;
begin
  case
    when model = 'flat' then
      n := pg_temp.price(charge -> 'price', currency);
      den := 1;
    when model = 'unit' then
      n := p * pg_temp.price(charge -> 'price', currency);
    when model = 'package' then
      n := pg_temp.ceiling_of(p, d * (charge ->> 'size')::numeric) * pg_temp.price(charge -> 'price', currency);
      den := 1;
    when model = 'percentage' and c -> 'records' is null then
      n := p * (charge ->> 'rate')::numeric;
      den := d * minor * 100;
    when model = 'percentage' then
      den := d * minor * 100;
      for element in select jsonb_array_elements(c -> 'records') loop
        p := pg_temp.converted((element #>> '{}')::numeric, divisor, rounding);
        used := least(p, left_free);
        left_free := left_free - used;
        continue when used <> 0 and p = used;
        of_record := (p - used) * (charge ->> 'rate')::numeric + den * pg_temp.price(charge -> 'flat', currency);
        if charge ? 'minimum_per_record' then
          of_record := greatest(of_record, den * pg_temp.price(charge -> 'minimum_per_record', currency));
        end if;
        if charge ? 'maximum_per_record' then
          of_record := least(of_record, den * pg_temp.price(charge -> 'maximum_per_record', currency));
        end if;
        n := n + of_record;
      end loop;
    else
      if model = 'graduated_percentage' then den := d * minor * 100; end if;
      for element in select jsonb_array_elements(charge -> 'tiers') loop
        high := d * (element ->> 'up_to')::numeric;
        if model = 'volume' then
          n := p * pg_temp.price(element -> 'price', currency);
        elsif is_first or p > low then
          slice := least(p, high) - low;
          n := n + case model
            when 'graduated' then slice * pg_temp.price(element -> 'price', currency)
            when 'graduated_package' then
              d * pg_temp.ceiling_of(slice, d * (element ->> 'size')::numeric) * pg_temp.price(element -> 'price', currency)
            else slice * coalesce((element ->> 'rate')::numeric, 0)
          end;
        end if;
        if model <> 'volume' or high is null or p <= high then
          n := n + den * pg_temp.price(element -> 'flat', currency);
        end if;
        exit when high is null or p <= high;
        low := high;
        is_first := false;
      end loop;
  end case;
  if is_prorated then
    n := n * numerator;
    den := den * denominator;
  end if;
  for element in select jsonb_array_elements(c -> 'discounts') loop
    n := n * (100 - (element #>> '{}')::numeric);
    den := den * 100;
  end loop;
  if charge ? 'maximum' and n * denominator > pg_temp.price(charge -> 'maximum', currency) * numerator * den then
    n := pg_temp.price(charge -> 'maximum', currency) * numerator;
    den := denominator;
  end if;
  if charge ? 'minimum' and n * denominator < pg_temp.price(charge -> 'minimum', currency) * numerator * den then
    n := pg_temp.price(charge -> 'minimum', currency) * numerator;
    den := denominator;
  end if;
  n := round(n, 100) / den;
  amount := trim_scale(round(n, digits) * minor);
  exact := trim_scale(n);
  cut := trunc(n, 15);
end
$$;
