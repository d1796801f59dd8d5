"""What models are stacked from: attention, positions, layers; and a recorder that looks on."""
