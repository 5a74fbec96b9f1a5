"""Every figure that the project gives, measured side by side with what it is compared to."""
