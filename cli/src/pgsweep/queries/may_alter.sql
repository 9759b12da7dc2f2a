SELECT name
FROM unnest(%(names)s::text[]) AS name
WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
   OR has_parameter_privilege(name, 'ALTER SYSTEM') -- from 15
