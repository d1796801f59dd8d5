"""What a pre-trained body is used for: heads, fine-tuning, words, sentences."""
