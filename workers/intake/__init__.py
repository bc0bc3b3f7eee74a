"""Convert accepted foreign records to input records."""
