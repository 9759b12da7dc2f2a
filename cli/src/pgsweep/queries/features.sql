SELECT feature, enabled, detail
FROM sweep.features
ORDER BY enabled, feature
