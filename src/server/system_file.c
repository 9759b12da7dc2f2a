/*
 * system_file.c
 *		Small files of /proc and /sys.
 */
#include "server/system_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "settings.h"

const char *
system_path(const char *path, char *real)
{
	snprintf(real, MAXPGPATH, "%s%s", sweep_debug_sensor_root ? sweep_debug_sensor_root : "", path);
	return real;
}

/* No virtual file descriptors: those allocate, and close other files. */
int
system_file_read(const char *path, char *buffer, size_t size)
{
	char		real[MAXPGPATH];
	int			fd = open(system_path(path, real), O_RDONLY | O_CLOEXEC, 0);
	size_t		length = 0;
	ssize_t		n = 0;

	buffer[0] = '\0';
	if (fd < 0)
		return -1;
	while (length < size - 1 && (n = read(fd, buffer + length, size - 1 - length)) > 0)
		length += n;
	if (n < 0)
	{
		int			save_errno = errno;

		close(fd);
		errno = save_errno;
		return -1;
	}
	close(fd);
	buffer[length] = '\0';
	return (int) length;
}
