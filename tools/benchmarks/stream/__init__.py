"""The stream processor: machines, masks, policies, memories, programs for GPUs."""
