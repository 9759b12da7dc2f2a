"""Turns what was read into text: pure, so that a test can print a whole screen."""
