"""Keep topics as Parquet files beyond their retention, and send them back."""
