"""The end-to-end tests; run.py runs them."""
