"""The ``sediment`` command line (contract chapter: cli). Parses, calls the library, prints."""
