"""The review page in a browser on this machine: nothing leaves it, nothing runs in the page."""

from heldout.review.web.app import Open, open_desk
from heldout.review.web.desk import Desk

__all__ = ["Desk", "Open", "open_desk"]
