//! Tests of crate-private behaviour: decisions, grants, and runs without a record.

mod decisions;
mod requests;
mod runs;
