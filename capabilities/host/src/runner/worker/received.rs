//! How many bytes have come in over a connection, by the kernel's own count.
//!
//! It stands here because it talks to the kernel by hand: nothing outside this directory does.
#![expect(unsafe_code, reason = "no safe wrapper of this socket option exists, and the kernel alone knows the count")]

use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd};

/// The first part of the kernel's `struct tcp_info`, which only ever grows at its end. Older kernels fill less of it.
#[repr(C)]
#[derive(Default)]
struct TcpInfo {
    states_and_options: [u8; 8],
    timers_and_counts: [u32; 24],
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
}

const WHOLE: usize = size_of::<TcpInfo>();
const _: () = assert!(WHOLE == 136 && offset_of!(TcpInfo, bytes_received) == 128, "the kernel's own layout");

/// The bytes of content received so far over a TCP connection; `None` when the kernel does not tell.
pub fn bytes_received(connection: impl AsFd) -> Option<u64> {
    let mut info = TcpInfo::default();
    let mut length = libc::socklen_t::try_from(WHOLE).ok()?;
    // SAFETY: `info` is `length` bytes of plain integers, valid in every pattern, and lives through the call; the kernel
    // writes at most `length` bytes to it and says in `length` how many it wrote. The descriptor is borrowed, hence open.
    let told = unsafe {
        libc::getsockopt(
            connection.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    (told == 0 && usize::try_from(length) == Ok(WHOLE)).then_some(info.bytes_received)
}

#[cfg(test)]
mod tests {
    use super::bytes_received;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn counts_what_came_in_whether_or_not_it_was_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        assert_eq!(bytes_received(&near), Some(0));
        far.write_all(&[7; 1000]).unwrap();
        near.write_all(&[7; 10]).unwrap();
        let mut part = [0; 400];
        near.read_exact(&mut part).unwrap();
        far.read_exact(&mut [0; 10]).unwrap();
        // Both came over loopback and are acknowledged when the other side has read.
        assert_eq!((bytes_received(&near), bytes_received(&far)), (Some(1000), Some(10)));
        assert_eq!(bytes_received(std::fs::File::open("/dev/null").unwrap()), None);
    }
}
