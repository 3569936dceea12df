"""Pictures of few samples at window size: G-buffer, motion, denoiser."""
