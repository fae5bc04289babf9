//! What executes on the machine's own cores: workers, stealing, parking.
