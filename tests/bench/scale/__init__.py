"""The scale bench: many members and many apps on the sandbox."""
