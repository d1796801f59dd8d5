"""The models that the chapters build, and Hugging Face's weights in and out of them."""
