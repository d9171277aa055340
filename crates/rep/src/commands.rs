//! The commands, one file each.

pub(crate) mod ask;
pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod eval_triggers;
pub(crate) mod explain;
pub(crate) mod hash;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod prompt;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod read_properties;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod show;
pub(crate) mod state;
pub(crate) mod switch;
pub(crate) mod to_prompt;
pub(crate) mod tools;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod validate;
pub(crate) mod why;
