//! Who asks: the identity that authenticated a request, and what belongs to it.
//!
//! Tasks, sessions, questions and runs belong to the bearer that made them. The name that a client reports is never
//! part of that: it is not verified.

use std::fmt;

use axum::http::request::Parts;
use rep_library::SkillSet;
use rep_runtime::named_token::TokenScope;
use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;
use serde_json::json;

use crate::catalog_view::sha256_digest;

/// The identity that authenticated a request, and what it may do. It does not reveal the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BearerIdentity {
    name: String,
    /// What the bearer may do, or `None` if its token names no scope of this server.
    scope: Option<TokenScope>,
    /// The skills that exist for the bearer.
    skills: SkillSet,
    validity: TokenValidity,
}

/// How long a token is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TokenValidity {
    /// As long as the server runs.
    Unlimited,
    /// While one of the user's named tokens has this digest, and is not expired.
    WhileNamed([u8; 32]),
    /// Until a Unix time in seconds.
    Until(u64),
}

/// The bearer that a task, session, question or run belongs to. Without tokens, everything belongs to the same owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(Option<String>);

/// A person or program that looks at questions, runs and tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// Sees what belongs to anyone: an operator, and everyone if no token is required.
    Operator(Option<BearerIdentity>),
    /// Sees its own.
    Bearer(BearerIdentity),
    /// Sees nothing: a token is required, and none was given.
    Stranger,
}

impl BearerIdentity {
    pub(crate) fn new(name: String, scope: Option<TokenScope>, skills: SkillSet, validity: TokenValidity) -> Self {
        Self { name, scope, skills, validity }
    }

    #[cfg(test)]
    pub(crate) fn for_test(name: &str, is_operator: bool) -> Self {
        let scope = if is_operator { TokenScope::Admin } else { TokenScope::Run };
        Self::new(name.to_owned(), Some(scope), SkillSet::default(), TokenValidity::Unlimited)
    }

    /// Whether the bearer's token has a scope, or one that includes it.
    pub fn allows(&self, scope: TokenScope) -> bool {
        self.scope.is_some_and(|own| own >= scope)
    }

    /// Returns the skills that exist for the bearer.
    pub(crate) fn skills(&self) -> &SkillSet {
        &self.skills
    }

    pub(crate) fn validity(&self) -> TokenValidity {
        self.validity
    }

    /// Returns the identity as text, as records contain it. Different bearers have different texts.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the owner of what this bearer makes.
    pub fn owner(&self) -> Owner {
        Owner(Some(self.name.clone()))
    }
}

impl fmt::Display for BearerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Owner {
    /// Whether tokens are not required, so that all clients are one owner.
    pub(crate) fn is_everyone(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the owner of what a bearer makes, or of what everyone makes if no token is required.
    pub fn from_bearer(bearer: Option<&BearerIdentity>) -> Self {
        Self(bearer.map(|bearer| bearer.name.clone()))
    }

    /// Returns the owner of what a request makes.
    pub(crate) fn from_context(context: &RequestContext<RoleServer>) -> Self {
        Self::from_bearer(find_bearer(context).as_ref())
    }

    /// Returns the digest of a call, to which questions about the call are sealed. Other owners have other digests.
    pub(crate) fn digest_call(&self, tool: &str, arguments: &JsonObject) -> String {
        sha256_digest(json!([self.0, tool, arguments]).to_string().as_bytes())
    }

    /// Returns the name of a state session as it is stored. Each bearer has sessions of its own.
    pub(crate) fn scope_session(&self, session: Option<&str>) -> Option<String> {
        let Some(owner) = &self.0 else { return session.map(str::to_owned) };
        let digest = sha256_digest(owner.as_bytes());
        let mark: String = digest.trim_start_matches("sha256:").chars().take(16).collect();
        Some(format!("{mark}/{}", session.unwrap_or(rep_runtime::DEFAULT_SESSION)))
    }
}

impl Visitor {
    /// Returns the visitor that a request comes from.
    pub fn from_request(is_token_required: bool, bearer: Option<BearerIdentity>) -> Self {
        match bearer {
            bearer if !is_token_required => Self::Operator(bearer),
            Some(bearer) if bearer.allows(TokenScope::Admin) => Self::Operator(Some(bearer)),
            Some(bearer) => Self::Bearer(bearer),
            None => Self::Stranger,
        }
    }

    /// Whether the visitor may see and decide what belongs to `owner`.
    pub fn may_see(&self, owner: &Owner) -> bool {
        match self {
            Self::Operator(_) => true,
            Self::Bearer(bearer) => owner.0.as_deref() == Some(bearer.name.as_str()),
            Self::Stranger => false,
        }
    }

    /// Whether the visitor may see a run that was recorded for a bearer.
    pub fn may_see_record(&self, bearer: Option<&str>) -> bool {
        self.may_see(&Owner(bearer.map(str::to_owned)))
    }

    /// Whether the visitor sees what belongs to anyone.
    pub fn is_operator(&self) -> bool {
        matches!(self, Self::Operator(_))
    }

    /// Whether the visitor may run tools and decide questions.
    pub fn may_run(&self) -> bool {
        match self {
            Self::Operator(_) => true,
            Self::Bearer(bearer) => bearer.allows(TokenScope::Run),
            Self::Stranger => false,
        }
    }

    /// Returns the identity of the visitor, if it has one.
    pub fn bearer(&self) -> Option<&BearerIdentity> {
        match self {
            Self::Operator(bearer) => bearer.as_ref(),
            Self::Bearer(bearer) => Some(bearer),
            Self::Stranger => None,
        }
    }
}

/// Returns the identity that authenticated the client.
pub(crate) fn find_bearer(context: &RequestContext<RoleServer>) -> Option<BearerIdentity> {
    context.extensions.get::<Parts>()?.extensions.get::<BearerIdentity>().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_sees_its_own_and_an_operator_sees_everything() {
        let bearer = |name: &str, is_operator| BearerIdentity::for_test(name, is_operator);
        let (one, other) = (bearer("subject \"a\"", false), bearer("subject \"b\"", false));
        let visitor = Visitor::from_request(true, Some(one.clone()));
        assert!(visitor.may_see(&one.owner()) && !visitor.may_see(&other.owner()));
        assert!(!visitor.may_see(&Owner::default()));
        assert!(Visitor::from_request(true, Some(bearer("token", true))).may_see(&other.owner()));
        assert!(Visitor::from_request(false, None).may_see(&Owner::default()));
        assert!(!Visitor::from_request(true, None).may_see(&Owner::default()));
    }

    #[test]
    fn the_sessions_of_bearers_have_different_names() {
        let owner = |name: &str| BearerIdentity::for_test(name, false).owner();
        let (one, other) = (owner("a").scope_session(Some("x")), owner("b").scope_session(Some("x")));
        assert!(one.is_some() && one != other);
        assert_ne!(owner("a").scope_session(None), owner("b").scope_session(None));
        assert_eq!(Owner::default().scope_session(Some("x")).as_deref(), Some("x"));
        assert_eq!(Owner::default().scope_session(None), None);
    }
}
