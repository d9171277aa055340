//! Running without a sandbox: only for who types that they want it, and told in the outcome.
