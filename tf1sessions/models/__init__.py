"""Models that TensorFlow 1 wrote: loaded, shared between threads, looked into.

::

    path ─▶ files ─▶ upgrades ─▶ checks ─▶ interface (guessing) ─▶ risks, parts ─▶ weights ─▶ values ─▶ model
      │     read     made of     nothing   what goes in and        what is left    large      set when  called from
      │     without  today's     that      comes out               without what    constants  a call    any thread
      │     trust    operations  crashes                           is not allowed  once       needs it
      │
      └──▶ files ─▶ inspection: interface, census, shapes, flops, risks ─▶ diagram: the same as a page
            nothing is run

``files.py`` what is at a path: protos, and where their large tensors are · ``upgrades/`` what an old graph needs, so
that today's TensorFlow takes it · ``checks.py`` what could bring TensorFlow down, found first.
``interface.py`` inputs and outputs by signature · ``signature_inference.py`` the same for a graph without one.
``risks.py`` which operations reach beyond the graph · ``subgraphs.py`` a graph without some of its operations.
``weights.py`` large constants as variables · ``values.py`` the values of variables, constants and tables, when needed ·
``model.py`` load() and the Model.
``inspection.py`` inspect(): what is in a model · ``census.py`` variables, loops, queues and tables of it ·
``shapes.py`` shapes for one row · ``flops.py`` what a node costs · ``diagram.py`` it all as one HTML page.
``graph_index.py`` which node depends on which · ``arguments.py`` the dtypes that a node takes and gives.
"""
