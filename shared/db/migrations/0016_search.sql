-- What the memory table derives for search, so that a whole scope is looked through in one index and never in the rows.
-- pgvector 0.7 or newer. In PL/pgSQL, whose plans are kept, for a body in SQL is planned again at every write; with the
-- search_path of now, so that a client's or a restore's does not matter.

-- A vector's short form: three bits a dimension (above -c, above 0, above c of the unit vector), so that the number of
-- bits that differ orders nearly as the distance does; a bit a dimension where three would not fit an index entry, and
-- none above that: such rows are compared in full. c = 0.6/sqrt(dimensions) parts what is usual in a vector in four.
CREATE FUNCTION runtime_memory.short_form(whole vector) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path FROM CURRENT AS $$
DECLARE
    step vector;
    unit vector;
BEGIN
    IF vector_dims(whole) > 9216 THEN
        RETURN NULL;
    ELSIF vector_dims(whole) > 3072 THEN
        RETURN binary_quantize(whole);
    END IF;
    step := array_fill((0.6 / sqrt(vector_dims(whole)))::real, ARRAY[vector_dims(whole)])::vector;
    unit := l2_normalize(whole);
    RETURN binary_quantize(unit - step) || binary_quantize(whole) || binary_quantize(unit + step);
END $$;

-- A lexeme's number. Two may share one (1 in 500 million): what is found by it is looked at again in the row.
CREATE FUNCTION runtime_memory.term(lexeme text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1 + (hashtext(lexeme) & 536870911);

-- A memory's lexemes as a sparse vector of ones: its inner product with powers of two tells which of a query's it has.
-- None for more than fit an index entry: such rows are looked at themselves.
CREATE FUNCTION runtime_memory.terms(lexemes tsvector) RETURNS sparsevec
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path FROM CURRENT AS $$
BEGIN
    IF length(lexemes) > 120 THEN
        RETURN NULL;
    END IF;
    RETURN ('{' || coalesce((
        SELECT string_agg(DISTINCT runtime_memory.term(one) || ':1', ',') FROM unnest(tsvector_to_array(lexemes)) AS one
    ), '') || '}/536870912')::sparsevec;
END $$;
