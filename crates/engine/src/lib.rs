//! What decides in Ringlane: orchestrator, scopes, tensor map, rings, slots, completion.
