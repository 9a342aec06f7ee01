"""A program's code, ported step by step; every step leaves a program that runs and computes the same.

Data flow: source/ reads the files of a project and finds the uses of imported names; rewrite.py hands each file to the
rules of a step, which give changes (edits of the text, with the reason) and remarks (what is left to do by hand), until
no rule finds anything more. No file is written there: :func:`port` returns the new texts, and writing.py writes them.

Files::

    rule.py          what a rule is, and what it gives: changes and remarks
    steps.py         the steps in their order, and the rules of each
    python_rules.py  the rules of the first step, which an audit asks too
    rewrite.py       port(): the texts of a project after each step
    python_two/      Python 2 as Python 3, before the rules
    scopes.py        what a bare name means where it stands, branches for one Python or library
    renames.py       names and arguments of libraries that are gone, by tables
    library_tables.py  what the tables of scripts/old_libraries say as old and new names
    headers.py       where import statements are put
    indentation.py   statements moved in or out of a block
    inputs/          queues of files and arrays as tf.data
    requests/        requests to a session as functions: which code builds, which runs a session
    native/          a graph as variables, layers and functions of TensorFlow 2
    rules/           a rule a file
    descriptions.py  what each rule does, by step
    requirements_files.py   the packages that a project asks for, as the steps need them
    unported.py      modules of the program that are none of the files to port
    committed.py     what git could not give back of the files that are to be written
    writing.py       all files of a project written, or none: in place, or as a copy
    replacing.py     the process that renames them, which no kill of the command stops
    interrupts.py    Ctrl-C, kept until nothing is half written
    verification.py  a program before and after each step, run and compared
    saved_checkpoints.py   what such runs have saved, compared
    plain_run.py     in the process of such a run: plain Python, with the recorder
    native_run.py    the same before and after step native: both programs draw the same random numbers
    printed.py       what such programs print, compared
"""
