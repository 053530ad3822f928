"""Studies: each prints what it found. python -m calcore.studies.<name>"""
