"""SREGym-lite, observe-only, reconstructed: 21 faults as recorded states of three small estates."""
