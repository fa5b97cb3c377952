//! To the kernel itself, and to its back doors.

use libc::{
    SYS_adjtimex, SYS_bpf, SYS_clock_settime, SYS_delete_module, SYS_finit_module, SYS_init_module, SYS_kexec_load,
    SYS_mbind, SYS_mq_open, SYS_msgget, SYS_perf_event_open, SYS_reboot, SYS_semget, SYS_set_mempolicy,
    SYS_setdomainname, SYS_sethostname, SYS_settimeofday, SYS_shmat, SYS_shmget, SYS_syslog, SYS_userfaultfd, c_long,
};

use super::{Attempt, Room, Tried, call, text};

pub(super) const ALL: &[Attempt] = &[
    Attempt::new("bpf", "load a program into the kernel", |_| {
        let mut attributes = Room::new();
        call(SYS_bpf, [5, attributes.at(), 64])
    }),
    Attempt::new("perf", "measure other processes", |_| {
        let mut attributes = Room::new();
        call(SYS_perf_event_open, [attributes.at(), 0, -1, -1, 0])
    }),
    Attempt::new("page_faults", "handle page faults", |_| call(SYS_userfaultfd, [-1])),
    Attempt::new("module", "load a kernel module", |_| call(SYS_init_module, [0, 0, text(c"")])),
    Attempt::new("module_file", "load a kernel module from a file", |_| call(SYS_finit_module, [-1, text(c""), 0])),
    Attempt::new("module_remove", "remove a kernel module", |_| {
        call(SYS_delete_module, [text(c"none_of_this_name"), 0])
    }),
    Attempt::new("kernel", "load another kernel", |_| call(SYS_kexec_load, [0, -1, 0, -1])),
    Attempt::new("kernel_file", "load another kernel from a file", |_| call(KEXEC_FILE_LOAD, [-1, -1, 0, 0, 0])),
    Attempt::new("reboot", "reboot", |_| call(SYS_reboot, [0, 0, 0, 0])),
    Attempt::new("log", "read the kernel's log", |_| call(SYS_syslog, [10, 0, 0])),
    Attempt::new("host_name", "rename the machine", |_| call(SYS_sethostname, [0, -1])),
    Attempt::new("domain_name", "rename the machine's domain", |_| call(SYS_setdomainname, [0, -1])),
    Attempt::new("clock", "set the clock", |_| call(SYS_clock_settime, [-1, 0])),
    Attempt::new("clock_old", "set the clock by the older call", |_| {
        // A time that there is not.
        let mut time = Room([u64::MAX; 32]);
        call(SYS_settimeofday, [time.at(), 0])
    }),
    Attempt::new("clock_rate", "change how fast the clock goes", |_| {
        let mut changes = Room::new();
        call(SYS_adjtimex, [changes.at()])
    }),
    Attempt::new("shared_memory", "share memory by a key", |_| call(SYS_shmget, [0x5eed, 4096, 0])),
    Attempt::new("shared_memory_attach", "attach shared memory", |_| call(SYS_shmat, [-1, 0, 0])),
    Attempt::new("message_queue", "use a queue by a key", |_| call(SYS_msgget, [0x5eed, 0])),
    Attempt::new("semaphores", "use semaphores by a key", |_| call(SYS_semget, [0x5eed, 1, 0])),
    Attempt::new("posix_queue", "use a queue by a name", |_| call(SYS_mq_open, [text(c"nobody"), 0, 0, 0])),
    Attempt::new("memory_policy", "choose where memory lies", |_| call(SYS_set_mempolicy, [-1, 0, 0])),
    Attempt::new("memory_binding", "choose where this memory lies", |_| call(SYS_mbind, [0, 0, -1, 0, 0, 0])),
    Attempt::new("security_attributes", "change how a security module sees it", |_| {
        call(LSM_SET_SELF_ATTR, [0, 0, 0, 0])
    }),
    Attempt::new("list_mounts", "list mounts", |_| call(LISTMOUNT, [0, 0, 0, 0])),
    Attempt::new("number_unknown", "make a call that nobody knows", |_| call(9_999, [])),
    Attempt::new("number_negative", "make a call with a negative number", |_| call(-7, [])),
    Attempt::new("number_x32", "make calls by their x32 numbers", |_| x32(39)),
    Attempt::new("number_x32_socket", "make a socket by its x32 number", |_| x32(41)),
    Attempt::new("io_ports", "use the machine's ports", |_| io_ports()),
    Attempt::new("io_level", "use every port of the machine", |_| io_level()),
    Attempt::new("segments", "change how its memory is divided", |_| segments()),
    Attempt::ending("entry_of_32_bits", "make calls through the entry for 32-bit programs", |_| entry_of_32_bits()),
];

/// Equal everywhere, and not in every C library's list.
const LISTMOUNT: c_long = 458;
const LSM_SET_SELF_ATTR: c_long = 460;
/// Not in every C library's list either.
#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: c_long = 320;
#[cfg(target_arch = "aarch64")]
const KEXEC_FILE_LOAD: c_long = 294;

#[cfg(target_arch = "x86_64")]
fn x32(number: c_long) -> Tried {
    call(0x4000_0000 | number, [2, 1, 0])
}

#[cfg(target_arch = "x86_64")]
fn io_ports() -> Tried {
    call(libc::SYS_ioperm, [-1, -1, 0])
}

#[cfg(target_arch = "x86_64")]
fn io_level() -> Tried {
    call(libc::SYS_iopl, [9])
}

#[cfg(target_arch = "x86_64")]
fn segments() -> Tried {
    // Reads an empty table.
    let mut table = Room::new();
    call(libc::SYS_modify_ldt, [0, table.at(), 16])
}

#[cfg(target_arch = "x86_64")]
fn entry_of_32_bits() -> Tried {
    Tried::of(super::sys::attempt_by_interrupt())
}

#[cfg(target_arch = "aarch64")]
fn x32(_: c_long) -> Tried {
    Tried::NotApplicable
}

#[cfg(target_arch = "aarch64")]
fn io_ports() -> Tried {
    Tried::NotApplicable
}

#[cfg(target_arch = "aarch64")]
fn io_level() -> Tried {
    Tried::NotApplicable
}

#[cfg(target_arch = "aarch64")]
fn segments() -> Tried {
    Tried::NotApplicable
}

#[cfg(target_arch = "aarch64")]
fn entry_of_32_bits() -> Tried {
    Tried::NotApplicable
}
