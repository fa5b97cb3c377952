//! To other processes, and to more of them.

use libc::{
    CLONE_FILES, CLONE_NEWUSER, CLONE_PARENT, CLONE_SIGHAND, CLONE_THREAD, CLONE_VFORK, CLONE_VM, PR_SET_PTRACER,
    SIGCHLD, SYS_clone, SYS_clone3, SYS_execve, SYS_execveat, SYS_get_robust_list, SYS_getpgid, SYS_getsid,
    SYS_ioprio_set, SYS_kcmp, SYS_kill, SYS_migrate_pages, SYS_move_pages, SYS_pidfd_getfd, SYS_pidfd_open,
    SYS_pidfd_send_signal, SYS_prctl, SYS_prlimit64, SYS_process_madvise, SYS_process_mrelease, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_ptrace, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_sched_setaffinity,
    SYS_sched_setattr, SYS_sched_setscheduler, SYS_setns, SYS_setpgid, SYS_setpriority, SYS_setsid, SYS_tgkill,
    SYS_tkill, SYS_unshare, SYS_wait4, SYS_waitid, c_int, c_long,
};

use super::{Attempt, NOWHERE, Room, Tried, call, sys, text};

pub(super) const ALL: &[Attempt] = &[
    Attempt::new("trace", "read the host's memory as a debugger", |outside| {
        call(SYS_ptrace, [libc::PTRACE_PEEKDATA.into(), outside.process.into(), 0, 0])
    }),
    Attempt::new("trace_zygote", "read its zygote's memory as a debugger", |_| {
        call(SYS_ptrace, [libc::PTRACE_PEEKDATA.into(), zygote(), 0, 0])
    }),
    Attempt::new("let_trace", "let others debug it", |_| call(SYS_prctl, [PR_SET_PTRACER.into(), 0, 0, 0, 0])),
    Attempt::new("read_memory", "read the host's memory", |outside| {
        call(SYS_process_vm_readv, [outside.process.into(), 0, 0, 0, 0, 0])
    }),
    Attempt::new("write_memory", "write to the host's memory", |outside| {
        call(SYS_process_vm_writev, [outside.process.into(), 0, 0, 0, 0, 0])
    }),
    Attempt::new("advise_memory", "give advice about the host's memory", |_| {
        call(SYS_process_madvise, [-1, 0, 0, 0, 0])
    }),
    Attempt::new("release_memory", "release a dying process's memory", |_| call(SYS_process_mrelease, [-1, 0])),
    Attempt::new("migrate_memory", "move the host's memory", |outside| {
        call(SYS_migrate_pages, [outside.process.into(), 0, 0, 0])
    }),
    Attempt::new("move_memory", "move pages of the host's", |outside| {
        call(SYS_move_pages, [outside.process.into(), 0, 0, 0, 0, 0])
    }),
    Attempt::new("process_handle", "get a handle on the host", |outside| {
        call(SYS_pidfd_open, [outside.process.into(), 0])
    }),
    Attempt::new("take_descriptor", "take a descriptor from a process", |_| call(SYS_pidfd_getfd, [-1, 0, 0])),
    Attempt::new("signal_handle", "signal by a handle", |_| call(SYS_pidfd_send_signal, [-1, 0, 0, 0])),
    Attempt::new("signal", "signal the host", |outside| call(SYS_kill, [outside.process.into(), 0])),
    Attempt::new("signal_zygote", "signal its zygote", |_| call(SYS_kill, [zygote(), 0])),
    Attempt::new("signal_all", "signal every process", |_| call(SYS_kill, [-1, 0])),
    Attempt::new("signal_self", "signal itself as a process", |_| call(SYS_kill, [0, 0])),
    Attempt::new("signal_thread", "signal a thread of the host", |outside| {
        call(SYS_tkill, [outside.process.into(), 0])
    }),
    Attempt::new("signal_thread_of", "signal a thread of the host by both numbers", |outside| {
        call(SYS_tgkill, [outside.process.into(), outside.process.into(), 0])
    }),
    Attempt::new("signal_thread_of_zygote", "signal its zygote by both numbers", |_| {
        call(SYS_tgkill, [zygote(), zygote(), 0])
    }),
    Attempt::new("queue_signal", "queue a signal for the host", |outside| {
        call(SYS_rt_sigqueueinfo, [outside.process.into(), 0, 0])
    }),
    Attempt::new("queue_thread_signal", "queue a signal for a thread of the host", |outside| {
        call(SYS_rt_tgsigqueueinfo, [outside.process.into(), outside.process.into(), 0, 0])
    }),
    Attempt::new("limits_of_host", "read the host's limits", |outside| limits(outside.process.into())),
    Attempt::new("limits_of_zygote", "read its zygote's limits", |_| limits(zygote())),
    Attempt::new("affinity", "move the host to other processors", |outside| affinity(outside.process.into())),
    Attempt::new("affinity_of_zygote", "move its zygote to other processors", |_| affinity(zygote())),
    Attempt::new("scheduler", "change how the host is scheduled", |outside| {
        call(SYS_sched_setscheduler, [outside.process.into(), -1, 0])
    }),
    Attempt::new("scheduler_attributes", "change the host's deadlines", |outside| {
        call(SYS_sched_setattr, [outside.process.into(), 0, 0])
    }),
    Attempt::new("priority", "change the host's priority", |outside| {
        call(SYS_setpriority, [-1, outside.process.into(), 0])
    }),
    Attempt::new("io_priority", "change the priority of the host's disk", |outside| {
        call(SYS_ioprio_set, [-1, outside.process.into(), 0])
    }),
    Attempt::new("compare", "compare itself with the host", |outside| {
        call(SYS_kcmp, [outside.process.into(), outside.process.into(), 0, 0, 0])
    }),
    Attempt::new("robust_list", "learn addresses of the host's", |outside| {
        let (mut head, mut size) = (Room::new(), Room::new());
        call(SYS_get_robust_list, [outside.process.into(), head.at(), size.at()])
    }),
    Attempt::new("session_of_host", "learn about the host's session", |outside| {
        call(SYS_getsid, [outside.process.into()])
    }),
    Attempt::new("group_of_host", "learn about the host's group", |outside| {
        call(SYS_getpgid, [outside.process.into()])
    }),
    Attempt::new("wait", "wait for processes", |_| call(SYS_wait4, [-1, 0, libc::WNOHANG.into(), 0])),
    Attempt::new("wait_by_id", "wait for a process", |_| call(SYS_waitid, [-1, 0, 0, 0, 0])),
    Attempt::new("process_group", "change its process group", |_| call(SYS_setpgid, [-1, 0])),
    Attempt::new("session", "begin a session", |_| call(SYS_setsid, [])),
    Attempt::new("fork", "fork", |_| fork(0)),
    Attempt::new("fork_waiting", "fork and wait", |_| fork(CLONE_VFORK)),
    Attempt::new("fork_sibling", "fork a child of its parent", |_| fork(CLONE_PARENT)),
    Attempt::new("fork_user_namespace", "fork into a user namespace", |_| fork(CLONE_NEWUSER)),
    Attempt::new("fork_network_namespace", "fork into a network namespace", |_| fork(libc::CLONE_NEWNET)),
    Attempt::new("fork_handle", "fork with a handle", |_| {
        let mut handle = Room::new();
        Tried::of(sys::attempt_fork(libc::CLONE_PIDFD | SIGCHLD, handle.at()))
    }),
    Attempt::new("fork_sharing", "fork and share memory", |_| {
        // Without a stack of its own and not waiting: the kernel refuses the flags before anything is shared.
        call(SYS_clone, [c_long::from(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWUSER), 0, 0, 0, 0])
    }),
    Attempt::new("fork_new", "fork by the newer call", |_| call(SYS_clone3, [0, 0])),
    Attempt::new("spawn", "start a program", |_| Tried::of(std::process::Command::new("/bin/true").status())),
    Attempt::new("execute", "become another program", |_| call(SYS_execve, [text(NOWHERE), 0, 0])),
    Attempt::new("execute_at", "become a program that it has open", |_| {
        call(SYS_execveat, [-1, text(c""), 0, 0, libc::AT_EMPTY_PATH.into()])
    }),
    Attempt::new("namespace_user", "enter a user namespace", |_| {
        call(SYS_unshare, [c_long::from(CLONE_NEWUSER | NONE)])
    }),
    Attempt::new("namespace_network", "enter a network namespace", |_| {
        call(SYS_unshare, [c_long::from(libc::CLONE_NEWNET | NONE)])
    }),
    Attempt::new("namespace_mount", "enter a mount namespace", |_| {
        call(SYS_unshare, [c_long::from(libc::CLONE_NEWNS | NONE)])
    }),
    Attempt::new("unshare", "stop sharing descriptors", |_| call(SYS_unshare, [c_long::from(CLONE_FILES)])),
    Attempt::new("join_namespace", "join a namespace of others", |_| call(SYS_setns, [-1, 0])),
];

/// No flag: what it stands beside is refused as a whole, once it is looked at.
const NONE: c_int = 1;

fn zygote() -> c_long {
    rustix::process::getppid().map_or(1, |zygote| zygote.as_raw_nonzero().get()).into()
}

fn limits(process: c_long) -> Tried {
    let mut limits = Room::new();
    call(SYS_prlimit64, [process, 7, 0, limits.at()])
}

/// Asks for no processor at all, which nothing can be moved to.
fn affinity(process: c_long) -> Tried {
    let mut none = Room::new();
    call(SYS_sched_setaffinity, [process, 8, none.at()])
}

fn fork(flags: c_int) -> Tried {
    Tried::of(sys::attempt_fork(flags | SIGCHLD, 0))
}
