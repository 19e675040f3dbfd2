"""Making networks: data from a teacher's games, and networks that learn from it.

Everything that needs PyTorch comes with the extra `train`; making data does not.
"""
