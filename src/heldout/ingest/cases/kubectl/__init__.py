"""What kubectl prints, read back: descriptions and tables, as recordings of others hold them."""
