"""What `octo-reach bench` measures, a file a benchmark."""
