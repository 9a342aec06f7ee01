"""The same inputs through two sides, and what comes out of them compared, tensor by tensor.

``verifying.py`` verify() itself · ``opening.py`` what a side is, told from what the user gave · ``sides.py`` what all
sides have · ``artifacts.py`` models of TensorFlow 1 · ``functions.py`` functions of TensorFlow 2, with ``inlining.py``
for what is inside of them · ``callables.py`` Python functions · ``programs.py`` scripts · ``recordings.py`` recordings
· ``views.py`` what of a graph can be looked at · ``inputs.py`` inputs, given or made, ``examples.py`` serialised ones ·
``matching.py`` which input or output is which · ``measures.py`` how far one array is from another · ``tolerances.py``
how far it may be · ``causes/`` why they part · ``comparison.py`` what was found · ``html_report.py`` the same as a page
"""
