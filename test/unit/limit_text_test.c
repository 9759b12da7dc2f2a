/*
 * limit_text_test.c
 *		policy/limit_text: what is read, and where an error is.
 */
#include "limit_text.h"
#include "tap.h"

static const struct
{
	const char *text;
	int			error;			/* its position (-1: none) */
	double		bytes;
	double		ms;
}			lags[] = {
	{"", -1, 0, 0},
	{"  ", -1, 0, 0},
	{"0", -1, 0, 0},
	{"0.0", -1, 0, 0},
	{"100MB", -1, 104857600, 0},
	{" 100 MB ", -1, 104857600, 0},
	{"1.5GB", -1, 1610612736, 0},
	{"512B", -1, 512, 0},
	{"64kB", -1, 65536, 0},
	{"1TB", -1, 1099511627776, 0},
	{"5s", -1, 0, 5000},
	{"500ms", -1, 0, 500},
	{"2min", -1, 0, 120000},
	{"1h", -1, 0, 3600000},
	{"1d", -1, 0, 86400000},
	{"250us", -1, 0, 0.25},
	{".5s", -1, 0, 500},
	{"100", 3, 0, 0},
	{"MB", 0, 0, 0},
	{"-5s", 0, 0, 0},
	{"+5s", 0, 0, 0},
	{"5 sec", 2, 0, 0},
	{"5m", 1, 0, 0},
	{"5mb", 1, 0, 0},
	{"5MB/s", 3, 0, 0},
	{"5s 100MB", 3, 0, 0},
	{"1e3MB", 1, 0, 0},
	{"0x10MB", 1, 0, 0},
	{"1,5GB", 1, 0, 0},
	{"nan", 0, 0, 0},
	{"inf", 0, 0, 0},
	{"9999999999999MB", 0, 0, 0},
	{".", 0, 0, 0},
};

static const struct
{
	const char *text;
	int			error;
	bool		automatic;
	double		rows_s;
}			rates[] = {
	{"", -1, false, 0},
	{" ", -1, false, 0},
	{"auto", -1, true, 0},
	{" auto ", -1, true, 0},
	{"5000", -1, false, 5000},
	{"0.5", -1, false, 0.5},
	{"0", -1, false, 0},
	{"automatic", 0, false, 0},
	{"AUTO", 0, false, 0},
	{"auto 5", 5, false, 0},
	{"5000 rows", 5, false, 0},
	{"-1", 0, false, 0},
	{"5k", 1, false, 0},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(lags); i++)
	{
		LimitError	error = {-1, NULL};
		double		bytes;
		double		ms;
		bool		read = limit_parse_lag(lags[i].text, &bytes, &ms, &error);

		tap_is_bool(read, lags[i].error < 0, lags[i].text, "is a lag");
		tap_is_int(error.position, lags[i].error, lags[i].text, "position");
		if (read)
		{
			tap_is_double(bytes, lags[i].bytes, lags[i].text, "bytes");
			tap_is_double(ms, lags[i].ms, lags[i].text, "ms");
		}
		else
			tap_ok(error.what != NULL, lags[i].text, "says what is wrong");
	}
	for (size_t i = 0; i < lengthof(rates); i++)
	{
		LimitError	error = {-1, NULL};
		bool		automatic;
		double		rows_s;
		bool		read = limit_parse_reclaim(rates[i].text, &automatic, &rows_s, &error);

		tap_is_bool(read, rates[i].error < 0, rates[i].text, "is a rate");
		tap_is_int(error.position, rates[i].error, rates[i].text, "position");
		if (read)
		{
			tap_is_bool(automatic, rates[i].automatic, rates[i].text, "auto");
			tap_is_double(rows_s, rates[i].rows_s, rates[i].text, "rows");
		}
	}
	return tap_done();
}
