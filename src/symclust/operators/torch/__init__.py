"""Matrices on a device, as tensors of PyTorch. The one place for torch."""
