"""A server's last day, a trial, and what tune found, as HTML or Markdown."""
