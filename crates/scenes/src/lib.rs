//! Programs with known answers.
