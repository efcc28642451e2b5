"""Plan, source and clock become frames in a store: one host or many, with what is lost between them.

``planning`` says what is asked of a host, ``session`` talks to one host, ``hosts`` runs many sessions at once,
``sealing`` turns frames into tables, ``live`` says what a line of the live view holds. Nothing here changes a
host: the package cannot import what could (see the import contracts).
"""
