//! Protocol errors. Messages never contain a path of this machine.

use rmcp::ErrorData;
use serde_json::json;

/// Reports invalid parameters of a request.
pub(crate) fn invalid_params(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

/// Reports that no resource has this URI.
pub(crate) fn resource_not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("no resource is served at this URI", Some(json!({ "uri": uri })))
}

/// Reports that something served could not be read. The reason is for the operator only.
pub(crate) fn unreadable_error(what: &str) -> ErrorData {
    ErrorData::internal_error(format!("the server could not read {what}; ask its operator to check it"), None)
}

/// Reports an internal error.
pub(crate) fn internal_error() -> ErrorData {
    ErrorData::internal_error("internal error: the server could not complete this request", None)
}

/// Reports that the call could not be recorded and is therefore not answered.
pub(crate) fn unrecorded_call() -> ErrorData {
    ErrorData::internal_error(
        "the server refuses all calls because it cannot record them; its log has the reason",
        None,
    )
}
