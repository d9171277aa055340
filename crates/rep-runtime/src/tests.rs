//! Tests of what never leaves this crate: decisions, grants, and runs without a record.

mod decisions;
mod requests;
mod runs;
