-- Settings as they are, and as postgresql.auto.conf has them: the last line of a name counts.
SELECT s.name, current_setting(s.name) AS shown, s.source, f.setting AS auto,
       coalesce(f.applied, true) AS applied
FROM pg_settings AS s
LEFT JOIN (SELECT DISTINCT ON (lower(name)) lower(name) AS name, setting, applied
           FROM pg_file_settings
           WHERE sourcefile ~ '(^|[/\\])postgresql\.auto\.conf$'
           ORDER BY lower(name), seqno DESC) AS f ON f.name = lower(s.name)
WHERE s.name = ANY (%(names)s)
