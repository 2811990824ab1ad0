"""What runs in AWS, as describe and list calls and the configuration recorder give it."""
