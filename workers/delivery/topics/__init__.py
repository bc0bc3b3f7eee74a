"""Create, check and read topics as a whole, and the rights on them."""
