"""Mask incoming records and erase persons."""
