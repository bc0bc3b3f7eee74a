"""Read numbers: digits of all scripts, words, signs, scales, units, bounds and parts of a whole."""
