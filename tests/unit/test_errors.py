"""What is printed of an error: a line for each thing that is wrong, and no name starts a line of its own."""

from sediment_assets.errors import ListingError, SedimentError, error_text


def test_a_line_feed_in_a_name_is_escaped():
    assert error_text(SedimentError("a\nb\x1b[31m: expected a file")) == r"error: a\nb\x1b[31m: expected a file"


def test_a_listing_has_a_line_for_each_thing_that_is_wrong():
    assert error_text(ListingError(["2 lines are wrong", "a\nb: one", "c: other"])) == (
        "error: 2 lines are wrong\na\\nb: one\nc: other"
    )
