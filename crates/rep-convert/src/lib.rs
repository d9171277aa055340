//! Converts skills between formats: Markdown into the twelve sections of UASP, and back.
//!
//! All functions are pure. [`extract`] reads a SKILL.md with rules, [`convert`] turns a document from any engine into a
//! file, and [`docs`] writes Markdown for people. A language model can replace the rules; it is a trait
//! ([`convert::LanguageModel`]) that `rep-net` implements. `rep-library` finds skills and `rep-check` validates them.
//!
//! ```
//! use rep_model::{Skill, SkillTree};
//!
//! let text = "---\nname: pdf\ndescription: Fills forms.\n---\n## Rules\n\n- Never overwrite the original file.\n";
//! let (skill, _) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", text)]));
//! let document = rep_convert::document_from_skill(&skill).expect("there is a SKILL.md");
//! assert_eq!(&*document.sections.constraints.never[0], "overwrite the original file");
//! ```

pub mod convert;
pub mod docs;
pub mod extract;
mod names;

use rep_model::{Skill, SkillDocument};

/// Returns the structure of a skill: the author's UASP document if there is one, otherwise the facts extracted from its
/// Markdown.
pub fn document_from_skill(skill: &Skill) -> Option<SkillDocument> {
    SkillDocument::from_skill(skill).or_else(|| skill.manifest.as_ref().map(|_| extract::extract_document(skill)))
}
