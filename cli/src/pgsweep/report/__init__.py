"""Pages people look at: results of `pgsweep bench` and a server's last day, as HTML or Markdown."""
