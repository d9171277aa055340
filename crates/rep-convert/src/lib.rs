//! One format into another: Markdown skills into the twelve sections of UASP, and back.
//!
//! Pure: values in, values out. [`extract`] reads a SKILL.md by rule, [`convert`] makes a file of a document, whichever engine made
//! it, and [`docs`] writes Markdown for people. A model may do the reading; it is a trait ([`convert::Model`]) that
//! `rep-net` implements. `rep-library` knows which skills exist, `rep-check` what is wrong with them.
//!
//! ```
//! use rep_model::{Skill, SkillTree};
//!
//! let text = "---\nname: pdf\ndescription: Fills forms.\n---\n## Rules\n\n- Never overwrite the original file.\n";
//! let (skill, _) = Skill::parse(SkillTree::of("pdf", &[("SKILL.md", text)]));
//! let document = rep_convert::document_of(&skill).expect("there is a SKILL.md");
//! assert_eq!(&*document.sections.constraints.never[0], "overwrite the original file");
//! ```

pub mod convert;
pub mod docs;
pub mod extract;

use rep_model::{Document, Skill};

/// The structure of a skill: the author's if there is one, otherwise what can be extracted from its Markdown.
pub fn document_of(skill: &Skill) -> Option<Document> {
    Document::authored(skill).or_else(|| skill.manifest.as_ref().map(|_| extract::extract(skill)))
}
