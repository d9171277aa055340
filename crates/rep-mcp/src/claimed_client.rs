//! Who made a call, in the text of a run's record: the user of this machine, the verified identity, and the name that
//! the client claims.

use crate::identity::BearerIdentity;

/// The words before the quoted name of a client.
const CLAIM: &str = "a client that calls itself ";
/// The word between the user of this machine and the one that a run was made for.
const FOR: &str = " for ";

/// What a call from the dashboard is recorded as, and the words after the identity of its user.
const PAGE: &str = "the page";
const ON_PAGE: &str = ", on the page";

/// Who made a call. Every part may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedClient {
    /// The user of this machine whose process ran it.
    pub user: Option<String>,
    /// The identity that authenticated the client.
    pub bearer: Option<String>,
    /// The name and version that the client reports. They are not verified.
    pub client: Option<String>,
}

impl ClaimedClient {
    /// Describes a client for the record of a run: the verified identity first, then the name that it reports.
    pub(crate) fn describe(bearer: Option<&str>, client: &str) -> String {
        let claim = format!("{CLAIM}{client:?}");
        bearer.map_or_else(|| claim.clone(), |bearer| format!("{bearer}, {claim}"))
    }

    /// Describes a user of the dashboard for the record of a run.
    pub(crate) fn describe_page(bearer: Option<&BearerIdentity>) -> String {
        bearer.map_or_else(|| PAGE.to_owned(), |bearer| format!("{bearer}{ON_PAGE}"))
    }

    /// Reads the text that the record of a run has in `who`. Names are quoted there, so that a client cannot claim to
    /// be another one.
    pub fn parse_run_record(who: &str) -> Self {
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        // In quoted text, a quote follows a backslash, so this finds the first claim that is not quoted.
        let Some(start) = who.find(&format!("{CLAIM}\"")) else {
            let (user, rest) = who.split_once(FOR).unwrap_or((who, ""));
            if let Some(bearer) = rest.strip_suffix(ON_PAGE) {
                return Self { user: known(user), bearer: known(bearer), client: known(PAGE) };
            }
            return Self { user: known(user), bearer: None, client: known(rest) };
        };
        let quoted = &who[start + CLAIM.len()..];
        let client = serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned());
        let (user, bearer) = who[..start].split_once(FOR).unwrap_or(("", &who[..start]));
        Self { user: known(user), bearer: known(bearer.trim_end_matches(", ")), client: known(&client) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(bearer: Option<&str>, client: &str) -> (Option<String>, Option<String>, Option<String>) {
        let who = format!("uid 0 for {}", ClaimedClient::describe(bearer, client));
        let ClaimedClient { user, bearer, client } = ClaimedClient::parse_run_record(&who);
        (user, bearer, client)
    }

    #[test]
    fn a_described_client_is_parsed_again() {
        let expected = |bearer: Option<&str>, client: &str| {
            (Some("uid 0".to_owned()), bearer.map(str::to_owned), Some(client.to_owned()))
        };
        assert_eq!(parsed(None, "bench 1"), expected(None, "bench 1"));
        assert_eq!(parsed(Some("token 0a1b"), "bench 1"), expected(Some("token 0a1b"), "bench 1"));
        let forged = "x\", a client that calls itself \"root";
        assert_eq!(parsed(Some("token 0a1b"), forged), expected(Some("token 0a1b"), forged));
        let subject = format!("subject {:?}", "a client that calls itself \"root\"");
        assert_eq!(parsed(Some(&subject), "bench"), expected(Some(&subject), "bench"));
    }

    #[test]
    fn a_run_of_the_terminal_has_only_a_user() {
        let own = ClaimedClient::parse_run_record("uid 1000");
        assert_eq!(own, ClaimedClient { user: Some("uid 1000".to_owned()), ..ClaimedClient::default() });
        let page = ClaimedClient::parse_run_record("uid 0 for the page");
        assert_eq!((page.bearer, page.client.as_deref()), (None, Some("the page")));
        let page = ClaimedClient::parse_run_record("uid 0 for token 0a1b, on the page");
        assert_eq!((page.bearer.as_deref(), page.client.as_deref()), (Some("token 0a1b"), Some("the page")));
    }
}
