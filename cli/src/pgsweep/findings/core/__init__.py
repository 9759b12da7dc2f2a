"""Answers from core's own views, for servers without the extension. All of it is pure."""
