"""Read languages other than English: detection, stems, and numbers, dates and times as English writes them."""
