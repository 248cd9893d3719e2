"""One module per source; ``registry.py`` lists them."""
