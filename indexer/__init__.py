"""Write: turn folders of files into a new corpus version and publish its indexes."""
