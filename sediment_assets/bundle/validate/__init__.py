"""What a reader demands of a bundle before it uses a row: bundle.md §8, one module per group of rules."""
