SELECT {columns}
FROM sweep.budget
