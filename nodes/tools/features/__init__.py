"""Features that products state, and their comparison."""
