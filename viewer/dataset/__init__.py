"""Annotated pictures of models in random arrangements, as COCO, BOP and NeRF's tools read them."""
