//! To other machines, and to other processes of this one.

use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use libc::{
    AF_ALG, AF_BLUETOOTH, AF_CAN, AF_INET, AF_INET6, AF_KEY, AF_NETLINK, AF_NFC, AF_PACKET, AF_PPPOX, AF_RDS, AF_TIPC,
    AF_UNIX, AF_VSOCK, AF_XDP, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_STREAM, SYS_accept4, SYS_bind, SYS_connect,
    SYS_getsockopt, SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup, SYS_listen, SYS_recvfrom,
    SYS_recvmmsg, SYS_recvmsg, SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_setsockopt, SYS_socket, SYS_socketpair,
    c_int, c_long,
};

use super::{Attempt, Room, Tried, call};

pub(super) const ALL: &[Attempt] = &[
    Attempt::new("tcp_connect", "connect to a port of this machine", |outside| {
        Tried::of(TcpStream::connect(("127.0.0.1", outside.port)).and_then(|mut stream| stream.write_all(b"escaped")))
    }),
    Attempt::new("tcp_listen", "listen on a port", |_| Tried::of(TcpListener::bind(("127.0.0.1", 0)))),
    Attempt::new("udp", "send a datagram to this machine", |outside| {
        Tried::of(
            UdpSocket::bind(("127.0.0.1", 0))
                .and_then(|socket| socket.send_to(b"escaped", ("127.0.0.1", outside.port))),
        )
    }),
    Attempt::new("resolve", "look a name up", |_| match ("localhost", 80).to_socket_addrs() {
        Ok(_) => Tried::Succeeded,
        // The resolver has error numbers of its own.
        Err(error) => error
            .raw_os_error()
            .map_or(Tried::Refused(0), |errno| Tried::of::<()>(Err(io::Error::from_raw_os_error(errno)))),
    }),
    Attempt::new("unix_connect", "connect to a socket by its path", |outside| {
        Tried::of(UnixStream::connect(&outside.socket))
    }),
    Attempt::new("unix_listen", "listen on a socket with a path", |_| {
        Tried::of(std::os::unix::net::UnixListener::bind("/nowhere/at/all"))
    }),
    Attempt::new("unix_abstract", "connect to a socket by an abstract name", |_| {
        Tried::of(SocketAddr::from_abstract_name("nobody").and_then(|address| UnixStream::connect_addr(&address)))
    }),
    Attempt::new(
        "unix_datagram",
        "make a socket for datagrams on this machine",
        |_| Tried::of(UnixDatagram::unbound()),
    ),
    Attempt::new("socket_unix", "make a Unix socket", |_| socket(AF_UNIX, SOCK_STREAM)),
    Attempt::new("socket_unix_packets", "make a Unix socket for packets", |_| socket(AF_UNIX, SOCK_SEQPACKET)),
    Attempt::new("socket_inet", "make an IPv4 socket", |_| socket(AF_INET, SOCK_STREAM)),
    Attempt::new("socket_inet_datagram", "make an IPv4 socket for datagrams", |_| socket(AF_INET, SOCK_DGRAM)),
    Attempt::new("socket_inet_raw", "make a raw IPv4 socket", |_| socket(AF_INET, SOCK_RAW)),
    Attempt::new("socket_inet6", "make an IPv6 socket", |_| socket(AF_INET6, SOCK_STREAM)),
    Attempt::new("socket_netlink", "talk to the kernel's network", |_| socket(AF_NETLINK, SOCK_RAW)),
    Attempt::new("socket_packet", "read packets from the wire", |_| socket(AF_PACKET, SOCK_RAW)),
    Attempt::new("socket_vsock", "talk to the hypervisor", |_| socket(AF_VSOCK, SOCK_STREAM)),
    Attempt::new("socket_alg", "use the kernel's cryptography", |_| socket(AF_ALG, SOCK_SEQPACKET)),
    Attempt::new("socket_bluetooth", "make a Bluetooth socket", |_| socket(AF_BLUETOOTH, SOCK_RAW)),
    Attempt::new("socket_can", "make a CAN socket", |_| socket(AF_CAN, SOCK_RAW)),
    Attempt::new("socket_tipc", "make a TIPC socket", |_| socket(AF_TIPC, SOCK_STREAM)),
    Attempt::new("socket_rds", "make an RDS socket", |_| socket(AF_RDS, SOCK_SEQPACKET)),
    Attempt::new("socket_key", "make a key management socket", |_| socket(AF_KEY, SOCK_RAW)),
    Attempt::new("socket_pppox", "make a PPP socket", |_| socket(AF_PPPOX, SOCK_STREAM)),
    Attempt::new("socket_nfc", "make an NFC socket", |_| socket(AF_NFC, SOCK_SEQPACKET)),
    Attempt::new("socket_xdp", "make an XDP socket", |_| socket(AF_XDP, SOCK_RAW)),
    Attempt::new("socketpair_inet", "make a pair of IPv4 sockets", |_| pair(AF_INET)),
    Attempt::new("socketpair_tipc", "make a pair of TIPC sockets", |_| pair(AF_TIPC)),
    Attempt::new("connect_anew", "connect a socket that it has to another one", |_| {
        with_pair(|socket| call(SYS_connect, [socket, NAME.at(), NAME.len()]))
    }),
    Attempt::new("bind", "give a socket that it has a name", |_| {
        with_pair(|socket| call(SYS_bind, [socket, NAME.at(), NAME.len()]))
    }),
    Attempt::new("listen", "let a socket that it has listen", |_| with_pair(|socket| call(SYS_listen, [socket, 1]))),
    Attempt::new("accept", "accept connections", |_| with_pair(|socket| call(SYS_accept4, [socket, 0, 0, 0]))),
    Attempt::new("send_to", "send to an address", |_| {
        with_pair(|socket| call(SYS_sendto, [socket, NAME.at(), 1, libc::MSG_DONTWAIT.into(), NAME.at(), NAME.len()]))
    }),
    Attempt::new("send_urgent", "send urgent data", |_| {
        with_pair(|socket| call(SYS_sendto, [socket, NAME.at(), 1, (libc::MSG_OOB | libc::MSG_DONTWAIT).into(), 0, 0]))
    }),
    Attempt::new("receive_urgent", "receive urgent data", |_| {
        let mut room = Room::new();
        let flags = libc::MSG_OOB | libc::MSG_DONTWAIT;
        with_pair(|socket| call(SYS_recvfrom, [socket, room.at(), 1, flags.into(), 0, 0]))
    }),
    Attempt::new("receive_urgent_message", "receive urgent data in a message", |_| {
        let mut message = Room::new();
        with_pair(|socket| call(SYS_recvmsg, [socket, message.at(), (libc::MSG_OOB | libc::MSG_DONTWAIT).into()]))
    }),
    Attempt::new("send_message", "send a message that may carry descriptors", |_| {
        let mut message = Room::new();
        with_pair(|socket| call(SYS_sendmsg, [socket, message.at(), libc::MSG_DONTWAIT.into()]))
    }),
    Attempt::new("send_messages", "send many messages at once", |_| {
        let mut messages = Room::new();
        with_pair(|socket| call(SYS_sendmmsg, [socket, messages.at(), 1, libc::MSG_DONTWAIT.into()]))
    }),
    Attempt::new("receive_messages", "receive many messages at once", |_| {
        let mut messages = Room::new();
        with_pair(|socket| call(SYS_recvmmsg, [socket, messages.at(), 1, libc::MSG_DONTWAIT.into(), 0]))
    }),
    Attempt::new("socket_program", "put a program on a socket", |_| option(SYS_setsockopt, libc::SO_ATTACH_FILTER)),
    Attempt::new("socket_credentials", "ask for the credentials of others", |_| {
        option(SYS_setsockopt, libc::SO_PASSCRED)
    }),
    Attempt::new("peer_process", "learn which process is at the other end", |_| {
        option(SYS_getsockopt, libc::SO_PEERCRED)
    }),
    Attempt::new("peer_handle", "get a handle on the process at the other end", |_| {
        option(SYS_getsockopt, SO_PEERPIDFD)
    }),
    Attempt::new("io_uring", "have the kernel make calls in its stead", |_| {
        let mut parameters = Room::new();
        call(SYS_io_uring_setup, [1, parameters.at()])
    }),
    Attempt::new("io_uring_enter", "use a ring of calls", |_| call(SYS_io_uring_enter, [-1, 0, 0, 0, 0, 0])),
    Attempt::new("io_uring_register", "register with a ring of calls", |_| call(SYS_io_uring_register, [-1, 0, 0, 0])),
];

/// Later than the C library's headers.
const SO_PEERPIDFD: c_int = 77;

/// An abstract name that nobody listens on.
static NAME: Name = Name(*b"\x01\0\0nobody");

struct Name([u8; 9]);

impl Name {
    fn at(&self) -> c_long {
        self.0.as_ptr() as c_long
    }

    fn len(&self) -> c_long {
        9
    }
}

fn socket(family: c_int, kind: c_int) -> Tried {
    call(SYS_socket, [family.into(), (kind | libc::SOCK_CLOEXEC).into(), 0])
}

fn pair(family: c_int) -> Tried {
    let mut two = Room::new();
    call(SYS_socketpair, [family.into(), SOCK_STREAM.into(), 0, two.at()])
}

/// With a socket that a body may have: one of a pair of its own.
fn with_pair(attempt: impl FnOnce(c_long) -> Tried) -> Tried {
    match UnixDatagram::pair() {
        Ok((one, _other)) => attempt(one.as_raw_fd().into()),
        Err(error) => Tried::Reached(error.raw_os_error().unwrap_or(0)),
    }
}

fn option(number: c_long, option: c_int) -> Tried {
    let (mut value, mut size) = (Room::new(), Room::new());
    // Room for what is read, and for a program of one instruction without address.
    size.0[0] = 64;
    let sized = if number == SYS_setsockopt { 16 } else { size.at() };
    with_pair(|socket| call(number, [socket, libc::SOL_SOCKET.into(), option.into(), value.at(), sized]))
}
