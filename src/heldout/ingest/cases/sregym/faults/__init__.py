"""One file for each fault; its ``FAULT`` is found by ``fault.faults``."""
