//! What is kept of a run: the run directory and its manifest.
