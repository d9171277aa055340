//! Moving skills between folders and machines: whole, checked, and recorded.
//!
//! The only room that writes skills where others read them. What it puts somewhere is there as a whole or not at all, whatever
//! happens in between; nothing of a skill is ever executed.

pub mod files;
pub mod index;
pub mod journal;
pub mod lock;
pub mod place;
pub mod working_copy;
