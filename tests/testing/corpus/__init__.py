"""Programs with the verdict that each must have, as people write them: planted hazards, and right ones that look so.

With those of the zoo beside this folder there are at least 200 of each. Each is a function with a decorator: ``@right``
for a program about which nothing may be reported, or ``@planted("mutation while running")`` with the kinds that must
be, and no others. ``@noted`` is for those about which a note must be made, and nothing more. See corpus_runs.py.
"""
