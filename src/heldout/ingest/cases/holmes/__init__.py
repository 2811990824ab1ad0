"""HolmesGPT's evaluation fixtures (Apache-2.0): a question or alert, recorded output, manifests."""
