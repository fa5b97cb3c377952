//! To more than it was given, and out of what holds it.

use libc::{
    PR_CAP_AMBIENT, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_MM,
    PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_SECUREBITS, PR_SET_TIMERSLACK, SYS_add_key,
    SYS_capset, SYS_fcntl, SYS_ioctl, SYS_keyctl, SYS_landlock_create_ruleset, SYS_landlock_restrict_self, SYS_mlock,
    SYS_mlockall, SYS_mmap, SYS_mprotect, SYS_personality, SYS_pipe2, SYS_pkey_alloc, SYS_pkey_mprotect, SYS_prctl,
    SYS_prlimit64, SYS_remap_file_pages, SYS_request_key, SYS_seccomp, SYS_setfsgid, SYS_setfsuid, SYS_setgid,
    SYS_setgroups, SYS_setitimer, SYS_setregid, SYS_setresgid, SYS_setresuid, SYS_setreuid, SYS_setrlimit, SYS_setuid,
    SYS_timer_create, SYS_timer_delete, SYS_timer_getoverrun, SYS_timer_settime, SYS_umask, c_int, c_long,
};

use super::{Attempt, Room, Tried, call, text};

pub(super) const ALL: &[Attempt] = &[
    Attempt::new("set_user", "become root", |_| call(SYS_setuid, [0])),
    Attempt::new("set_users", "become root by every number", |_| call(SYS_setresuid, [0, 0, 0])),
    Attempt::new("set_real_user", "become root by the older call", |_| call(SYS_setreuid, [0, 0])),
    Attempt::new("set_file_user", "open files as root", |_| call(SYS_setfsuid, [0])),
    Attempt::new("set_group", "join root's group", |_| call(SYS_setgid, [0])),
    Attempt::new("set_groups_of_process", "join root's group by every number", |_| call(SYS_setresgid, [0, 0, 0])),
    Attempt::new("set_real_group", "join root's group by the older call", |_| call(SYS_setregid, [0, 0])),
    Attempt::new("set_file_group", "open files as root's group", |_| call(SYS_setfsgid, [0])),
    Attempt::new("set_groups", "join groups", |_| call(SYS_setgroups, [0, 0])),
    Attempt::new("set_capabilities", "gain capabilities", |_| call(SYS_capset, [0, 0])),
    Attempt::new("be_read", "let its memory be read", |_| prctl(PR_SET_DUMPABLE, 1)),
    Attempt::new("outlive", "outlive its zygote", |_| prctl(PR_SET_PDEATHSIG, 0)),
    Attempt::new("adopt", "adopt orphans", |_| prctl(PR_SET_CHILD_SUBREAPER, 0)),
    Attempt::new("new_privileges", "ask for new privileges", |_| prctl(PR_SET_NO_NEW_PRIVS, 0)),
    Attempt::new("keep_capabilities", "keep capabilities", |_| prctl(PR_SET_KEEPCAPS, 0)),
    Attempt::new("ambient_capabilities", "gain ambient capabilities", |_| prctl(PR_CAP_AMBIENT, -1)),
    Attempt::new("bounding_set", "change its bounding set", |_| prctl(PR_CAPBSET_DROP, 63)),
    Attempt::new("secure_bits", "change how capabilities are kept", |_| prctl(PR_SET_SECUREBITS, 0)),
    Attempt::new("memory_map", "change how its memory is described", |_| prctl(PR_SET_MM, 0)),
    Attempt::new("timer_slack", "change how exact its timers are", |_| prctl(PR_SET_TIMERSLACK, 0)),
    Attempt::new("filter_by_prctl", "install a filter by the older call", |_| prctl(PR_SET_SECCOMP, 2)),
    Attempt::new("filter", "install a filter", |_| call(SYS_seccomp, [1, 0, 0])),
    Attempt::new("filter_listener", "watch its own calls", |_| call(SYS_seccomp, [1, 8, 0])),
    Attempt::new("filter_strict", "enter the strict mode", |_| call(SYS_seccomp, [0, 1, 0])),
    Attempt::new("landlock_ruleset", "make Landlock rules", |_| call(SYS_landlock_create_ruleset, [0, 0, 1])),
    Attempt::new("landlock_restrict", "install Landlock rules", |_| call(SYS_landlock_restrict_self, [-1, 0])),
    Attempt::new("timer_stop", "stop the kernel's timer", |_| call(SYS_timer_settime, [0, 0, 0, 0])),
    Attempt::new("timer_delete", "take the kernel's timer away", |_| call(SYS_timer_delete, [99])),
    Attempt::new("timer_create", "make timers", |_| call(SYS_timer_create, [-1, 0, 0])),
    Attempt::new("timer_overrun", "ask about the kernel's timer", |_| call(SYS_timer_getoverrun, [99])),
    Attempt::new("alarm", "set an alarm", |_| call(SYS_setitimer, [-1, 0, 0])),
    Attempt::new("limit", "set its limits", |_| {
        let mut limits = Room::new();
        limits.0[1] = 64;
        call(SYS_prlimit64, [0, c_long::from(libc::RLIMIT_CORE), limits.at(), 0])
    }),
    Attempt::new("limit_old", "set its limits by the older call", |_| call(SYS_setrlimit, [-1, 0])),
    Attempt::new("mask", "change the mask of new files", |_| call(SYS_umask, [0o077])),
    Attempt::new("persona", "become another kind of process", |_| call(SYS_personality, [0])),
    Attempt::new("key_add", "add a key to the kernel's ring", |_| call(SYS_add_key, [text(c"user"), 0, 0, 0, -3])),
    Attempt::new("key_request", "ask for a key", |_| call(SYS_request_key, [text(c"user"), text(c"nobody"), 0, 0])),
    Attempt::new("key_control", "use the kernel's ring of keys", |_| call(SYS_keyctl, [0, -3, 0])),
    Attempt::new("code", "make memory that runs", |_| {
        map(libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
    }),
    Attempt::new("code_later", "let memory run", |_| call(SYS_mprotect, [0, 0, libc::PROT_EXEC.into()])),
    Attempt::new("code_by_key", "let memory run by a key", |_| {
        call(SYS_pkey_mprotect, [0, 0, libc::PROT_EXEC.into(), -1])
    }),
    Attempt::new("memory_key", "make keys for memory", |_| call(SYS_pkey_alloc, [1, 0])),
    Attempt::new("memory_shared", "have memory that no limit counts", |_| {
        map(libc::PROT_READ, libc::MAP_SHARED | libc::MAP_ANONYMOUS)
    }),
    Attempt::new("memory_growing", "have memory that grows like a stack", |_| {
        map(libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_GROWSDOWN)
    }),
    Attempt::new("memory_huge", "have memory of huge pages", |_| {
        map(libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB)
    }),
    Attempt::new("memory_remapped", "map pages anew", |_| call(SYS_remap_file_pages, [0, 0, 0, 0, 0])),
    Attempt::new("memory_locked", "keep memory from being swapped", |_| call(SYS_mlock, [0, 0])),
    Attempt::new("memory_all_locked", "keep all its memory from being swapped", |_| call(SYS_mlockall, [0])),
    Attempt::new("terminal_input", "type into a terminal", |_| ioctl(0x5412)),
    Attempt::new("terminal_paste", "paste into a terminal", |_| ioctl(0x541c)),
    Attempt::new("terminal_take", "take a terminal", |_| ioctl(0x540e)),
    Attempt::new("terminal_settings", "change a terminal", |_| ioctl(0x5402)),
    Attempt::new("interfaces", "list network interfaces", |_| ioctl(0x8912)),
    Attempt::new("asynchronous", "be signalled by a descriptor", |_| ioctl(0x5452)),
    Attempt::new("signal_owner", "have a descriptor signal others", |_| fcntl(libc::F_SETOWN, 0)),
    Attempt::new("signal_owner_extended", "have a descriptor signal a thread", |_| fcntl(15, 0)),
    Attempt::new("signal_choice", "choose what a descriptor signals", |_| fcntl(10, 0)),
    Attempt::new("lease", "hold others up by a lease", |_| fcntl(libc::F_SETLEASE, c_long::from(libc::F_UNLCK))),
    Attempt::new("notify", "watch a directory", |_| fcntl(libc::F_NOTIFY, 0)),
    Attempt::new("pipe_of_events", "have a pipe of the kernel's events", |_| {
        let mut two = Room::new();
        call(SYS_pipe2, [two.at(), libc::O_EXCL.into()])
    }),
    Attempt::new("pipe_size", "make a pipe larger", |_| fcntl(libc::F_SETPIPE_SZ, 0)),
    Attempt::new("lock", "lock a part of a file", |_| fcntl(libc::F_SETLK, 0)),
];

fn prctl(option: c_int, argument: c_long) -> Tried {
    call(SYS_prctl, [option.into(), argument, 0, 0, 0])
}

fn map(protection: c_int, flags: c_int) -> Tried {
    call(SYS_mmap, [0, 4096, protection.into(), flags.into(), -1, 0])
}

/// On a descriptor that every process has.
fn ioctl(request: c_long) -> Tried {
    let mut argument = Room::new();
    call(SYS_ioctl, [1, request, argument.at()])
}

fn fcntl(command: c_int, argument: c_long) -> Tried {
    call(SYS_fcntl, [1, command.into(), argument])
}
