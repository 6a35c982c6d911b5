"""Disk: the versioned catalogue, the published generations, labels, records and the encoder."""
