"""Results as one HTML file, or as Markdown."""
