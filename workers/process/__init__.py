"""Read and set properties of the operating-system process."""
