"""What wears a drive: SMART documents, drive ratings, yearly writes and lifetime. Pure.

Units: bytes inside; TB and TBW decimal (JEDEC JESD218), a year is 365 days. Rated TBW is compared with what the
host wrote, never with what the flash wrote: the rating already holds the write amplification of JESD219.
"""
