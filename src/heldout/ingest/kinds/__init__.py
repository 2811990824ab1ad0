"""What can be read into a world, one file for each kind."""
