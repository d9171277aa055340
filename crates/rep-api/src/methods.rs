//! The methods: their names, and which function answers each.

mod library;
mod running;

use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::libraries::count_skills;
use crate::message::MethodResult;
use crate::params::Params;
use crate::session::RequestContext;
use crate::{LINE_BYTES_MAX, PROTOCOL_VERSION};

/// Which threads answer a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// It reads a library.
    Library,
    /// It runs something, which can take long.
    Run,
}

type MethodFunction = fn(&RequestContext<'_>, &mut Params) -> Result<PendingResult, ApiError>;

/// The work of a method after its parameters were read. Nothing is done before unknown parameters are refused.
type PendingResult = Box<dyn FnOnce(&RequestContext<'_>) -> Result<MethodResult, ApiError>>;

/// A method.
pub(crate) struct ApiMethod {
    pub(crate) name: &'static str,
    pub(crate) kind: MethodKind,
    prepare: MethodFunction,
}

/// Every method, sorted by name.
pub(crate) const METHODS: &[ApiMethod] = &[
    ApiMethod { name: "ask", kind: MethodKind::Library, prepare: library::ask },
    ApiMethod { name: "audit", kind: MethodKind::Run, prepare: running::audit },
    ApiMethod { name: "check", kind: MethodKind::Run, prepare: library::check },
    ApiMethod { name: "hello", kind: MethodKind::Library, prepare: hello },
    ApiMethod { name: "list", kind: MethodKind::Library, prepare: library::list },
    ApiMethod { name: "policy", kind: MethodKind::Run, prepare: running::policy },
    ApiMethod { name: "prompt", kind: MethodKind::Library, prepare: library::prompt },
    ApiMethod { name: "query", kind: MethodKind::Library, prepare: library::query },
    ApiMethod { name: "read", kind: MethodKind::Library, prepare: library::read },
    ApiMethod { name: "reload", kind: MethodKind::Library, prepare: reload },
    ApiMethod { name: "run", kind: MethodKind::Run, prepare: running::run_tool },
    ApiMethod { name: "run_script", kind: MethodKind::Run, prepare: running::run_script },
    ApiMethod { name: "scan", kind: MethodKind::Run, prepare: library::scan },
    ApiMethod { name: "search", kind: MethodKind::Library, prepare: library::search },
    ApiMethod { name: "select", kind: MethodKind::Library, prepare: library::select },
    ApiMethod { name: "show", kind: MethodKind::Library, prepare: library::show },
    ApiMethod { name: "tools", kind: MethodKind::Library, prepare: library::tools },
    ApiMethod { name: "watch", kind: MethodKind::Library, prepare: watch },
];

/// Returns the method with a name.
pub(crate) fn find_method(name: &str) -> Option<&'static ApiMethod> {
    METHODS.iter().find(|method| method.name == name)
}

/// Reads the parameters, refuses unknown ones, and does the work.
pub(crate) fn call_method(
    method: &ApiMethod,
    context: &RequestContext<'_>,
    params: Map<String, Value>,
) -> Result<MethodResult, ApiError> {
    let mut params = Params::new(params);
    let work = (method.prepare)(context, &mut params)?;
    params.finish()?;
    work(context)
}

fn hello(_: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let client = params.text("client")?;
    Ok(Box::new(move |context| {
        if let Some(client) = client {
            context.session.set_client(client);
        }
        let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        let result = json!({
            "name": "rep",
            "version": context.session.options().version,
            "protocol": PROTOCOL_VERSION,
            "methods": names,
            "line_bytes_max": LINE_BYTES_MAX,
        });
        Ok(result.into())
    }))
}

fn reload(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = library::open(context, params)?;
    Ok(Box::new(move |_| {
        let catalog = library.reload()?;
        Ok(json!({ "library": library.number, "skills": count_skills(&catalog) }).into())
    }))
}

fn watch(context: &RequestContext<'_>, params: &mut Params) -> Result<PendingResult, ApiError> {
    let library = library::open(context, params)?;
    Ok(Box::new(move |context| {
        let is_watching = library.announce_changes(context.session.outbox());
        let catalog = library.catalog()?;
        Ok(json!({ "library": library.number, "watching": is_watching, "skills": count_skills(&catalog) }).into())
    }))
}

#[cfg(test)]
mod tests {
    use super::METHODS;

    #[test]
    fn the_methods_are_sorted_by_name() {
        assert!(METHODS.is_sorted_by(|one, next| one.name < next.name));
    }
}
