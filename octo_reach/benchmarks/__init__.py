"""What the package's speed and quality are measured with; `octo-reach bench` shows the results."""
