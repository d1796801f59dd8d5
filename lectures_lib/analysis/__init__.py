"""Looking into a trained model: attention, features, probes."""
