"""What follows from what the server said: problems, causes, forecasts."""
