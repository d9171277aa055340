//! Wrong tokens: they are answered late, logged and recorded.
//!
//! The delay grows with the number of wrong tokens from the same address and holds back only the refusal: a right token is
//! answered at once. To bound the log and the record, wrong tokens of an address are reported together.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::server::ServerState;

/// The delay of the first refusal; it doubles with each one.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const DELAY_MAX: Duration = Duration::from_secs(2);
/// The delay while many refusals of an address are held back.
const CROWD_DELAY: Duration = Duration::from_secs(15);
const CROWD: usize = 16;
/// How long an address is remembered after its last wrong token, and the maximum number of addresses.
const MEMORY: Duration = Duration::from_mins(5);
const ADDRESSES_MAX: usize = 4096;
/// How often the wrong tokens of an address are reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(30);

/// The wrong tokens of each address.
#[derive(Default)]
pub(super) struct FailedTokens(Mutex<BTreeMap<IpAddr, Attempts>>);

struct Attempts {
    count: u32,
    last: Instant,
    /// The refusals that are held back.
    held: usize,
    /// The number of attempts since the last report.
    unreported: u64,
    /// Whether a later report is planned.
    is_scheduled: bool,
}

/// What to do about a wrong token.
struct AttemptVerdict {
    delay: Duration,
    /// Whether this attempt is reported at once.
    is_reported: bool,
}

impl FailedTokens {
    /// Counts a wrong token, reports it, and waits before it is refused.
    pub(super) async fn refuse(self: &Arc<Self>, state: &Arc<ServerState>, peer: IpAddr, place: &str) {
        let verdict = self.count_attempt(peer);
        if verdict.is_reported {
            state.report_failed_tokens(peer, place, 1);
            let (own, state, place) = (Arc::clone(self), Arc::downgrade(state), place.to_owned());
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(REPORT_INTERVAL).await;
                    let Some(state) = state.upgrade() else { return };
                    match own.take_unreported(peer) {
                        0 => return,
                        count => state.report_failed_tokens(peer, &place, count),
                    }
                }
            });
        }
        let _held = HeldRefusal { failed: self, peer };
        tokio::time::sleep(verdict.delay).await;
    }

    fn count_attempt(&self, peer: IpAddr) -> AttemptVerdict {
        let now = Instant::now();
        let mut table = self.0.lock();
        if table.len() >= ADDRESSES_MAX && !table.contains_key(&peer) {
            table.retain(|_, attempts| now.duration_since(attempts.last) < MEMORY || attempts.held > 0);
            let oldest = table.iter().filter(|(_, attempts)| attempts.held == 0).min_by_key(|(_, one)| one.last);
            if let Some(oldest) = oldest.map(|(peer, _)| *peer).filter(|_| table.len() >= ADDRESSES_MAX) {
                table.remove(&oldest);
            }
        }
        let new = Attempts { count: 0, last: now, held: 0, unreported: 0, is_scheduled: false };
        let attempts = table.entry(peer).or_insert(new);
        if now.duration_since(attempts.last) > MEMORY {
            attempts.count = 0;
        }
        attempts.count = attempts.count.saturating_add(1);
        attempts.last = now;
        attempts.held += 1;
        let delay = FIRST_DELAY.saturating_mul(1 << (attempts.count - 1).min(16)).min(DELAY_MAX);
        let is_reported = !attempts.is_scheduled;
        attempts.is_scheduled = true;
        attempts.unreported += u64::from(!is_reported);
        AttemptVerdict { delay: if attempts.held > CROWD { CROWD_DELAY } else { delay }, is_reported }
    }

    /// Returns the number of attempts since the last report. If there are none, the next attempt is reported at once.
    fn take_unreported(&self, peer: IpAddr) -> u64 {
        let mut table = self.0.lock();
        let Some(attempts) = table.get_mut(&peer) else { return 0 };
        attempts.is_scheduled = attempts.unreported > 0;
        std::mem::take(&mut attempts.unreported)
    }
}

/// A refusal that is held back.
struct HeldRefusal<'a> {
    failed: &'a FailedTokens,
    peer: IpAddr,
}

impl Drop for HeldRefusal<'_> {
    fn drop(&mut self) {
        if let Some(attempts) = self.failed.0.lock().get_mut(&self.peer) {
            attempts.held = attempts.held.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    #[test]
    fn refusals_are_later_each_time_and_reported_together() {
        let failed = FailedTokens::default();
        let verdicts: Vec<AttemptVerdict> = (0..CROWD).map(|_| failed.count_attempt(PEER)).collect();
        let delays: Vec<u128> = verdicts.iter().take(7).map(|verdict| verdict.delay.as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(verdicts.iter().filter(|verdict| verdict.is_reported).count(), 1);
        assert_eq!(failed.count_attempt(PEER).delay, CROWD_DELAY);
        assert_eq!((failed.take_unreported(PEER), failed.take_unreported(PEER)), (16, 0));
        assert!(failed.count_attempt(PEER).is_reported);
    }

    #[test]
    fn the_table_of_addresses_is_bounded() {
        let failed = FailedTokens::default();
        for number in 0..u32::try_from(ADDRESSES_MAX).unwrap() + 10 {
            let peer = IpAddr::V4(number.into());
            failed.count_attempt(peer);
            drop(HeldRefusal { failed: &failed, peer });
        }
        assert_eq!(failed.0.lock().len(), ADDRESSES_MAX);
    }
}
