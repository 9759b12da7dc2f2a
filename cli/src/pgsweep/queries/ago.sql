-- When a span that ends now began.
SELECT now() AS now, now() - %(span)s::interval AS since
