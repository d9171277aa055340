//! The faults found while reading a skill, before a profile determines their level.

use crate::Span;

/// A change to one file that fixes a fault without changing the meaning of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes to replace, in the file of the fault.
    pub span: Span,
    /// The text that replaces them.
    pub replacement: String,
}

/// The kinds of fault that parsing a skill can find.
///
/// `rep-check` matches this enum exhaustively to find the rule that reports each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The file starts with a byte order mark.
    ByteOrderMark,
    /// The file is not encoded as UTF-8.
    EncodingNotUtf8,
    /// A bundled file is a pipe, a socket or a device.
    FileIrregular,
    /// A file is larger than the limit and was not read.
    FileTooLarge,
    /// A file could not be read.
    FileUnreadable,
    /// The directory exceeds a limit and was not read completely.
    FolderTooLarge,
    /// SKILL.md does not start with a `---` line.
    FrontmatterMissing,
    /// The frontmatter is YAML, but not a mapping of fields.
    FrontmatterNotMapping,
    /// The frontmatter has no closing `---` line.
    FrontmatterUnclosed,
    /// Lines end with CR LF.
    LineEndsCrlf,
    /// The file contains a NUL byte.
    NulByte,
    /// The directory has no SKILL.md.
    SkillMdMissing,
    /// SKILL.md exists but is not a file.
    SkillMdNotAFile,
    /// The target of a symbolic link does not exist.
    SymlinkDangling,
    /// A symbolic link points outside the skill's directory.
    SymlinkOutside,
    /// `tools.json` is not valid JSON.
    ToolsJsonInvalid,
    /// The YAML uses an anchor or an alias.
    YamlAnchor,
    /// The YAML cannot be parsed.
    YamlInvalid,
    /// A mapping has the same key twice.
    YamlKeyDuplicate,
    /// The YAML contains a tab outside quotes, block scalars and comments.
    YamlTab,
    /// The YAML uses an explicit tag.
    YamlTag,
    /// The YAML is nested too deeply or contains too many values.
    YamlTooComplex,
    /// A frontmatter value must be quoted to be valid YAML.
    YamlValueUnquoted,
}

impl FaultKind {
    /// Whether the fault is about YAML: its syntax, its limits, or a construct that some parsers reject.
    pub const fn is_yaml_fault(self) -> bool {
        match self {
            Self::YamlAnchor
            | Self::YamlInvalid
            | Self::YamlKeyDuplicate
            | Self::YamlTab
            | Self::YamlTag
            | Self::YamlTooComplex
            | Self::YamlValueUnquoted => true,
            Self::ByteOrderMark
            | Self::EncodingNotUtf8
            | Self::FileIrregular
            | Self::FileTooLarge
            | Self::FileUnreadable
            | Self::FolderTooLarge
            | Self::FrontmatterMissing
            | Self::FrontmatterNotMapping
            | Self::FrontmatterUnclosed
            | Self::LineEndsCrlf
            | Self::NulByte
            | Self::SkillMdMissing
            | Self::SkillMdNotAFile
            | Self::SymlinkDangling
            | Self::SymlinkOutside
            | Self::ToolsJsonInvalid => false,
        }
    }
}

/// A problem found by the parser. The profile under which the skill is checked determines its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The file, relative to the skill's root; empty for the skill as a whole.
    pub file: String,
    /// The location in that file.
    pub span: Span,
    /// The problem, as one lower-case phrase.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// A safe edit that fixes the fault, if there is one.
    pub edit: Option<TextEdit>,
}

impl Fault {
    /// Creates a fault without an edit.
    pub fn new(kind: FaultKind, file: &str, span: Span, message: String, help: &str) -> Self {
        Self { kind, file: file.to_owned(), span, message, help: help.to_owned(), edit: None }
    }

    /// Adds an edit that fixes the fault.
    #[must_use]
    pub fn with_edit(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.edit = Some(TextEdit { span, replacement: replacement.into() });
        self
    }
}
