"""Measurements, each a module that `make` runs; what they write goes to `bench/out/`. Figures stand in README.md."""
