"""What the pure functions of `lws.sandbox.patch` say, against what a real API server does."""
