"""Why two sides part: rules, each of which looks for one kind of evidence and says nothing without it.

``evidence.py`` what rules go by · ``attributes.py`` rules about operations and their attributes · ``contents.py`` about
variables and constants · ``patterns.py`` about how the values differ · ``registry.py`` all of them, in order
"""
