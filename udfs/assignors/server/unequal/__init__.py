"""The coordinator's `uniform` for members that subscribe to different topics."""
