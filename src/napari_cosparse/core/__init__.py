"""The mathematics: NumPy and SciPy only. Arrays in, frozen records out."""
