SELECT {columns}
FROM sweep.features
ORDER BY enabled, feature
