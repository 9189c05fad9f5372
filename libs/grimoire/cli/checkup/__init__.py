"""What `grimoire doctor` looks at, one module for each place it looks."""
