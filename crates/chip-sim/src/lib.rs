//! Modelled chips in deterministic virtual time.
//!
//! One host thread models the whole chip: the same program, chip and seed give the same bytes in every artifact, on any host, at
//! any load. Nothing here reads a host clock, a hash order or a thread schedule.
