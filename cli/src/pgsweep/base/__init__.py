"""What every part uses: errors, names, files, text, and how text gets out."""
