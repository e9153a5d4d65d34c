"""What goes wrong around the services, and what each does then. `docs/faults.md` is written from the markers here."""
