"""The query layer: retrieve, fuse, explain, search."""
