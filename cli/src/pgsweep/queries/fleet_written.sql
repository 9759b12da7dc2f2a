-- Settings as they are, and as files ask for them. Of the lines with a name the last one counts:
-- `auto` is that of postgresql.auto.conf, which wins, and `written` that of the other files.
SELECT n.name, current_setting(n.name, true) AS shown,
       coalesce(s.pending_restart, false) AS pending_restart, w.setting AS written, w.error,
       a.setting AS auto
FROM unnest(%(names)s::text[]) AS n (name)
LEFT JOIN pg_settings AS s ON s.name = n.name
LEFT JOIN LATERAL (SELECT f.setting, f.error FROM pg_file_settings AS f
                   WHERE f.name = n.name AND f.sourcefile !~ '(^|[/\\])postgresql\.auto\.conf$'
                   ORDER BY f.seqno DESC LIMIT 1) AS w ON true
LEFT JOIN LATERAL (SELECT f.setting FROM pg_file_settings AS f
                   WHERE f.name = n.name AND f.sourcefile ~ '(^|[/\\])postgresql\.auto\.conf$'
                   ORDER BY f.seqno DESC LIMIT 1) AS a ON true
