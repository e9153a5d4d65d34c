-- What the memory table derives for search, so that a whole scope is looked through in one index and never in the rows.
-- pgvector 0.7 or newer. Bodies are parsed here, not at each call: a client's search_path does not matter to them.

-- A vector's short form: three bits a dimension (above -c, above 0, above c of the unit vector), so that the number of
-- bits that differ orders nearly as the distance does; a bit a dimension where three would not fit an index entry, and
-- none above that: such rows are compared in full. c = 0.6/sqrt(dimensions) parts what is usual in a vector in four.
CREATE FUNCTION runtime_memory.short_form(whole vector) RETURNS bit varying
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN vector_dims(whole) <= 3072 THEN
        binary_quantize(l2_normalize(whole)
            - array_fill((0.6 / sqrt(vector_dims(whole)))::real, ARRAY[vector_dims(whole)])::vector)
        || binary_quantize(whole)
        || binary_quantize(l2_normalize(whole)
            + array_fill((0.6 / sqrt(vector_dims(whole)))::real, ARRAY[vector_dims(whole)])::vector)
    WHEN vector_dims(whole) <= 9216 THEN binary_quantize(whole)
END;

-- A lexeme's number. Two may share one (1 in 500 million): what is found by it is looked at again in the row.
CREATE FUNCTION runtime_memory.term(lexeme text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1 + (hashtext(lexeme) & 536870911);

-- A memory's lexemes as a sparse vector of ones: its inner product with powers of two tells which of a query's it has.
-- None for more than fit an index entry: such rows are looked at themselves.
CREATE FUNCTION runtime_memory.terms(lexemes tsvector) RETURNS sparsevec
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length(lexemes) <= 120 THEN (
    SELECT ('{' || coalesce(string_agg(DISTINCT runtime_memory.term(one) || ':1', ','), '') || '}/536870912')::sparsevec
    FROM unnest(tsvector_to_array(lexemes)) AS one
) END;
