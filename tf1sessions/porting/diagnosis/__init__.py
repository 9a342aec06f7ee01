"""The search for why a script's values differ from a recording: seeds, a kernel, or the code; with the evidence.

Files::

    record.py       Diagnosis: one cause, with its evidence
    differences.py  the first difference, looked at more closely
    calls.py        calls before it that one side alone makes
    queues.py       queues that several threads fill
    kernels.py      the same operations of the same values give other ones
    diagnose.py     diagnose(): goes through the causes
"""
