"""What the project is made of besides its own code: locked packages and jars, their licences, their known flaws."""
