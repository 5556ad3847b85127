"""What happens to each request before and after its route: limits, identity, errors."""
