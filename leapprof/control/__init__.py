"""The only code that changes a host: lines of config.ini, stopping and starting, commands of a playbook.

experiment alone imports it (see the import contracts): what records cannot change anything.
"""
