//! Finds the user of this machine that owns a loopback connection, according to the kernel.

use std::io::Read as _;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The maximum number of bytes read from a table.
const TABLE_BYTES_MAX: u64 = 16 << 20;
/// The state of a connection that is open at both ends. A closed connection has no owner in the table.
const ESTABLISHED: &str = "01";

/// Whether a connection from this machine belongs to the user of this process or to root. True if the kernel has no
/// table.
pub(crate) fn is_own_connection(peer: SocketAddr) -> bool {
    let tables = read_socket_tables();
    if tables.is_empty() {
        return true;
    }
    let own = rep_storage::platform::user_id();
    tables.iter().find_map(|table| find_socket_owner(table, peer)).is_some_and(|uid| uid == own || uid == 0)
}

/// Returns the user that owns a connection from this machine, if the kernel knows.
pub(crate) fn find_connection_owner(peer: SocketAddr) -> Option<u32> {
    read_socket_tables().iter().find_map(|table| find_socket_owner(table, peer))
}

fn read_socket_tables() -> Vec<String> {
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(read_socket_table).collect()
}

fn read_socket_table(path: &str) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(TABLE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Finds the owner of the socket with this address in a table of the kernel.
fn find_socket_owner(table: &str, address: SocketAddr) -> Option<u32> {
    let words = |six: Ipv6Addr| {
        let bytes = six.octets();
        let word = |part: &[u8]| format!("{:08X}", u32::from_ne_bytes([part[0], part[1], part[2], part[3]]));
        bytes.chunks(4).map(word).collect::<String>()
    };
    let port = address.port();
    let wanted = match address.ip() {
        IpAddr::V4(four) => [
            format!("{:08X}:{port:04X}", u32::from_ne_bytes(four.octets())),
            format!("{}:{port:04X}", words(four.to_ipv6_mapped())),
        ],
        IpAddr::V6(six) => [format!("{}:{port:04X}", words(six)), String::new()],
    };
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let local = fields.nth(1)?;
        let state = fields.nth(1)?;
        let uid = fields.nth(3)?;
        (state == ESTABLISHED && wanted.iter().any(|one| one == local)).then(|| uid.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_kernel_knows_the_owner_of_a_connection() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            assert!(is_own_connection(peer));
            // A closed connection has no owner.
            drop(client);
            assert_eq!(find_connection_owner(peer), None);
            drop(server);
        }
    }

    #[test]
    fn a_row_is_read_by_address_and_state() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n\
                     1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2\n\
                     2: 0100007F:9C41 0100007F:1F90 04 00000000:00000000 00:00000000 00000000     0        0 3\n";
        let at = |port: u16| find_socket_owner(table, SocketAddr::from(([127, 0, 0, 1], port)));
        if cfg!(target_endian = "little") {
            assert_eq!((at(0x9C40), at(0x9C41), at(1)), (Some(1001), None, None));
        }
    }
}
