//! X.509 certificates of signers, and chains to the roots that a user trusts.
//!
//! A chain is verified at the time from which the signer's certificate is valid, as `model_signing` does: signatures have
//! no trusted time of their own.

use std::fmt;
use std::time::Duration;

use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::{EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter};

use crate::der::{
    BIT_STRING, DerReader, DerValue, GENERALIZED_TIME, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET,
    UTC_TIME,
};
use crate::{PublicKey, SignatureError, SignatureErrorKind, pem};

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const CODE_SIGNING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03];
/// The first bit of a key usage: digital signature.
const DIGITAL_SIGNATURE: u8 = 0x80;
/// The maximum length of a name in messages.
const NAME_CHARS_MAX: usize = 100;

/// A certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    der: Vec<u8>,
    /// The common name of its subject, or else the organization.
    name: String,
    is_self_issued: bool,
    /// Whether it allows signatures.
    can_sign: bool,
    /// The time from which it is valid, in seconds since 1970.
    valid_from_s: u64,
    /// The encoded public key.
    key: Vec<u8>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Certificate").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Certificate {
    /// Parses all certificates of a PEM text; at least one.
    pub fn parse_pem(text: &str) -> Result<Vec<Self>, SignatureError> {
        let blocks = pem::parse_blocks(text)?;
        let found: Vec<Self> = blocks
            .iter()
            .filter(|block| block.label == "CERTIFICATE")
            .map(|block| Self::from_der(&block.bytes))
            .collect::<Result<_, _>>()?;
        if found.is_empty() {
            return Err(SignatureError::malformed("it has no PEM block `CERTIFICATE`"));
        }
        Ok(found)
    }

    /// Parses a certificate.
    pub fn from_der(bytes: &[u8]) -> Result<Self, SignatureError> {
        let mut all = DerReader::new(bytes).expect(SEQUENCE)?.reader();
        let mut body = all.expect(SEQUENCE)?.reader();
        body.read_optional(0xa0)?;
        body.expect(INTEGER)?;
        body.expect(SEQUENCE)?;
        let issuer = body.expect(SEQUENCE)?;
        let valid_from_s = parse_time(body.expect(SEQUENCE)?.reader().read()?)?;
        let subject = body.expect(SEQUENCE)?;
        let key = body.expect(SEQUENCE)?.whole.to_vec();
        let mut extensions = None;
        while !body.is_empty() {
            let part = body.read()?;
            if part.tag == 0xa3 {
                extensions = Some(part.reader().expect(SEQUENCE)?);
            }
        }
        Ok(Self {
            der: bytes.to_vec(),
            name: find_name(subject)?,
            is_self_issued: issuer.whole == subject.whole,
            can_sign: extensions.map_or(Ok(false), allows_signatures)?,
            valid_from_s,
            key,
        })
    }

    /// Returns the certificate in DER.
    pub fn as_der(&self) -> &[u8] {
        &self.der
    }

    /// Writes the certificate as PEM.
    pub fn to_pem(&self) -> String {
        pem::write_block("CERTIFICATE", &self.der)
    }

    /// Returns the common name of the subject, or else its organization.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the public key.
    pub fn public_key(&self) -> Result<PublicKey, SignatureError> {
        PublicKey::from_der(&self.key)
    }

    /// Verifies that this certificate may sign and that `chain` leads from it to one of the `roots`. Roots that another
    /// certificate issued count as links of the chain.
    pub(crate) fn verify_chain(&self, chain: &[Certificate], roots: &[Certificate]) -> Result<(), SignatureError> {
        let other = |reason: &str| {
            let message = format!("the certificate `{}` does not lead to a trusted root: {reason}", self.name);
            SignatureError::new(SignatureErrorKind::OtherSigner, message)
        };
        // A certificate that is a root itself needs no chain.
        if !(self.is_self_issued && roots.iter().any(|root| root.der == self.der)) {
            let (anchors, more): (Vec<&Certificate>, Vec<&Certificate>) =
                roots.iter().partition(|root| root.is_self_issued);
            let ders: Vec<CertificateDer<'_>> =
                anchors.iter().map(|root| CertificateDer::from(root.der.as_slice())).collect();
            let anchors = ders.iter().map(webpki::anchor_from_trusted_cert).collect::<Result<Vec<_>, _>>();
            let anchors = anchors.map_err(|error| other(&format!("a root cannot be used ({error})")))?;
            let links: Vec<CertificateDer<'_>> =
                chain.iter().chain(more).map(|link| CertificateDer::from(link.der.as_slice())).collect();
            let own = CertificateDer::from(self.der.as_slice());
            let entity = EndEntityCert::try_from(&own).map_err(|error| other(&error.to_string()))?;
            let time = UnixTime::since_unix_epoch(Duration::from_secs(self.valid_from_s));
            entity
                .verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &anchors, &links, time, AnyUsage, None, None)
                .map_err(|error| other(&error.to_string()))?;
        }
        if self.can_sign {
            return Ok(());
        }
        let message = format!("the certificate `{}` does not allow signatures", self.name);
        Err(SignatureError::new(SignatureErrorKind::Invalid, message))
    }
}

/// The key usage is compared by [`Certificate::verify_chain`], as `model_signing` does.
struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, _usages: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        Ok(())
    }
}

/// Finds the common name of a subject, or else its organization.
fn find_name(subject: DerValue<'_>) -> Result<String, SignatureError> {
    let mut names = subject.reader();
    let (mut common, mut organization) = (None, None);
    while !names.is_empty() {
        let mut attribute = names.expect(SET)?.reader().expect(SEQUENCE)?.reader();
        let kind = attribute.expect(OBJECT_IDENTIFIER)?.content;
        let text: String = String::from_utf8_lossy(attribute.read()?.content)
            .chars()
            .filter(|letter| !letter.is_control())
            .take(NAME_CHARS_MAX)
            .collect();
        match kind {
            COMMON_NAME => common = Some(text),
            ORGANIZATION => organization = Some(text),
            _ => {}
        }
    }
    Ok(common.or(organization).unwrap_or_default())
}

/// Whether the extensions of a certificate allow signatures: by its key usage, or for code.
fn allows_signatures(extensions: DerValue<'_>) -> Result<bool, SignatureError> {
    let mut all = extensions.reader();
    while !all.is_empty() {
        let mut extension = all.expect(SEQUENCE)?.reader();
        let kind = extension.expect(OBJECT_IDENTIFIER)?.content;
        let mut value = extension.read()?;
        if value.tag != OCTET_STRING {
            value = extension.expect(OCTET_STRING)?;
        }
        let is_allowed = match kind {
            KEY_USAGE => {
                let bits = value.reader().expect(BIT_STRING)?.content;
                bits.get(1).is_some_and(|first| first & DIGITAL_SIGNATURE != 0)
            }
            EXTENDED_KEY_USAGE => {
                let mut usages = value.reader().expect(SEQUENCE)?.reader();
                let mut is_found = false;
                while !usages.is_empty() {
                    is_found |= usages.expect(OBJECT_IDENTIFIER)?.content == CODE_SIGNING;
                }
                is_found
            }
            _ => false,
        };
        if is_allowed {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Parses a time of a certificate: `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn parse_time(value: DerValue<'_>) -> Result<u64, SignatureError> {
    let broken = || SignatureError::malformed("a certificate has an invalid time");
    let text = std::str::from_utf8(value.content).map_err(|_| broken())?;
    let digits = text.strip_suffix('Z').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let digits = digits.ok_or_else(broken)?;
    let (year, rest) = match (value.tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year: u64 = digits[..2].parse().map_err(|_| broken())?;
            (if year < 50 { 2000 + year } else { 1900 + year }, &digits[2..])
        }
        (GENERALIZED_TIME, 14) => (digits[..4].parse().map_err(|_| broken())?, &digits[4..]),
        _ => return Err(broken()),
    };
    let part = |at: usize| rest[at..at + 2].parse::<u64>().map_err(|_| broken());
    let (month, day, hour, minute, second) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 || year < 1970
    {
        return Err(broken());
    }
    Ok(((count_days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Counts the days from 1970 to a date.
fn count_days(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin in March have the leap day at their end.
    let shifted = if month > 2 { year } else { year - 1 };
    let from_march = (month + 9) % 12;
    let days = |year: u64| year * 365 + year / 4 - year / 100 + year / 400;
    // 1970-01-01 is day 719,468 of this count.
    days(shifted) + (from_march * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(count_days(1970, 1, 1), 0);
        assert_eq!(count_days(2000, 3, 1), 11_017);
        assert_eq!(count_days(2024, 2, 29), 19_782);
        assert_eq!(count_days(9999, 12, 31), 2_932_896);
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        for text in ["", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"] {
            assert!(Certificate::parse_pem(text).is_err(), "{text}");
        }
        for (tag, text) in [(UTC_TIME, "2401Z"), (UTC_TIME, "241301000000Z"), (GENERALIZED_TIME, "+0240101000000Z")] {
            let value = DerValue { tag, content: text.as_bytes(), whole: &[] };
            assert!(parse_time(value).is_err(), "{text}");
        }
    }
}
