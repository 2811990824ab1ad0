"""Cloud resources as neutral records, whoever tells of them: a state, a plan or an inventory.

A *shape* says of one type of resource how each side writes it: a state's attributes and the answer
of a describe call become the same fields in the same form, so that the two can be compared. Records
of both sides that mean one resource are joined by ARN or id within account and region.
"""

from __future__ import annotations
