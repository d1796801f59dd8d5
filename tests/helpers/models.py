"""What tests of models share."""

import torch


def largest_difference(a, b):
    """Of any two entries."""
    return (a - b).abs().max().item()


def jiggle(module):
    """LayerNorms and biases away from 1 and 0, where a wrong one would not show."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return module
