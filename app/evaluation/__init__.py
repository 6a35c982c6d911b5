"""Runs against labels: figures that always stand beside their sources."""
