"""The screens. A page only draws; what it draws is decided in ``app.query``."""
