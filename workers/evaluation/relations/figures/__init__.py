"""Compare whose and what a figure is: bands, parties, reference units, differences, wholes and parts."""
