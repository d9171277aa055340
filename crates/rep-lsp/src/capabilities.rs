//! What the server offers.

use serde_json::{Value, json};

use crate::client::ClientFeatures;
use crate::code_actions::{EXPLAIN_COMMAND, FIX_ALL};
use crate::completion::TRIGGER_CHARACTERS;
use crate::semantic_tokens::describe_legend;

/// Describes the server to a client.
pub(crate) fn describe(features: &ClientFeatures) -> Value {
    let mut capabilities = json!({
        "positionEncoding": features.encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2 },
        "codeActionProvider": { "codeActionKinds": ["quickfix", FIX_ALL] },
        "codeLensProvider": {},
        "completionProvider": { "triggerCharacters": TRIGGER_CHARACTERS },
        "definitionProvider": true,
        "documentFormattingProvider": true,
        "documentHighlightProvider": true,
        "documentLinkProvider": {},
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "hoverProvider": true,
        "inlayHintProvider": true,
        "referencesProvider": true,
        "renameProvider": { "prepareProvider": true },
        "selectionRangeProvider": true,
        "semanticTokensProvider": { "legend": describe_legend(), "full": true, "range": true },
        "workspaceSymbolProvider": true,
        "workspace": {
            "workspaceFolders": { "supported": true, "changeNotifications": true },
            "fileOperations": { "willRename": { "filters": [{ "scheme": "file", "pattern": { "glob": "**/*" } }] } },
        },
    });
    // A client that implements the command itself must not get a second one of the same name.
    if !features.has_command(EXPLAIN_COMMAND) {
        capabilities["executeCommandProvider"] = json!({ "commands": [EXPLAIN_COMMAND] });
    }
    if features.virtual_documents {
        capabilities["workspace"]["textDocumentContent"] = json!({ "schemes": ["repertoire"] });
    }
    if features.pulls_diagnostics {
        capabilities["diagnosticProvider"] = json!({
            "identifier": "repertoire",
            "interFileDependencies": true,
            "workspaceDiagnostics": true,
        });
    }
    capabilities
}
