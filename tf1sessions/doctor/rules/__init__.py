"""A file for each rule; registry.py has them all.

What a rule is stands in rule.py. ``find()`` in each file gives the places, and ``RULE`` says why they bite and what to
write instead; numpy_values.py is what the rules about NumPy share.
"""
