//! The three filters of a worker. A process passes through all it has, and the strictest answer counts.
//!
//! The first is long, installed once in the zygote, and inherited: everything that is not on its list is refused. The second
//! and third are short and take away what only the prologue, then only the start of a call, needed.

use libc::{EACCES, ENOSYS, EPERM, SYS_clone, SYS_fcntl, SYS_getsockopt, SYS_ioctl, SYS_mmap, SYS_mprotect, SYS_prctl};
use libc::{
    SYS_pipe2, SYS_prlimit64, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_setsockopt, SYS_socketpair, SYS_tgkill,
    SYS_unshare,
};

use libc::sock_filter;

use super::bpf::{Answer, Rule, Table, Test};
use super::{Profile, calls};

/// What glibc and musl ask for when they start a thread, `CLONE_DETACHED` apart, which means nothing.
const THREAD: u32 = bits(
    libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_SETTLS
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID,
);
const IS_THREAD: &[Test] = &[Test::Has { argument: 0, mask: !bits(libc::CLONE_DETACHED), value: THREAD }];

/// What they ask for when they fork.
const IS_FORK: &[Test] = &[Test::is(0, bits(libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD))];
const IS_PLAIN_FORK: &[Test] = &[Test::is(0, bits(libc::SIGCHLD))];

/// Names for threads and for memory: nothing that another process could see a difference by.
const PRCTL_BODY: [i32; 3] = [libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA];
const PRCTL_PROLOGUE: [i32; 9] = [
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_SET_DUMPABLE,
    libc::PR_GET_DUMPABLE,
    libc::PR_CAPBSET_DROP,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_CAP_AMBIENT,
    libc::PR_GET_SECCOMP,
];

/// Who a descriptor belongs to, and what it signals, is not for a body to change: `F_SETOWN` sends signals to others.
const FCNTL: [i32; 6] =
    [libc::F_DUPFD, libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL, libc::F_DUPFD_CLOEXEC];

/// `FIONBIO FIONREAD FIOCLEX FIONCLEX TCGETS`, equal on both architectures.
const IOCTL: [u32; 5] = [0x5421, 0x541b, 0x5451, 0x5450, 0x5401];

/// Options that are asked about: no peer's process is among them.
const GET_SOCKET: [i32; 10] = [
    libc::SO_ERROR,
    libc::SO_TYPE,
    libc::SO_DOMAIN,
    libc::SO_PROTOCOL,
    libc::SO_RCVBUF,
    libc::SO_SNDBUF,
    libc::SO_KEEPALIVE,
    libc::SO_LINGER,
    libc::SO_RCVTIMEO,
    libc::SO_SNDTIMEO,
];
/// Options that are set: neither programs nor protocols nor another congestion control.
const SET_SOCKET: [i32; 6] =
    [libc::SO_KEEPALIVE, libc::SO_LINGER, libc::SO_RCVBUF, libc::SO_SNDBUF, libc::SO_RCVTIMEO, libc::SO_SNDTIMEO];
const TCP: [i32; 6] = [
    libc::TCP_NODELAY,
    libc::TCP_KEEPIDLE,
    libc::TCP_KEEPINTVL,
    libc::TCP_KEEPCNT,
    libc::TCP_USER_TIMEOUT,
    libc::TCP_QUICKACK,
];

const PROT_EXEC: Test = lacks(2, libc::PROT_EXEC);
const PROT_GROWSDOWN: Test = lacks(2, libc::PROT_GROWSDOWN);
/// Memory that `RLIMIT_DATA` does not count: shared without a file, growing like a stack, or from the pool of huge pages.
const SHARED: Test = lacks(3, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
const GROWING: Test = lacks(3, libc::MAP_GROWSDOWN);
const HUGE: Test = lacks(3, libc::MAP_HUGETLB);

/// The zygote's filter, which its workers inherit.
pub(super) fn inherited(profile: Profile) -> Table {
    let mut table = Table::new(Answer::Fail(EPERM), calls::LAST_KNOWN, Answer::Fail(ENOSYS));
    for files in [calls::FILES, calls::FILES_OLD] {
        table.always(files, Answer::Fail(EACCES));
    }
    table.always(calls::ABSENT, Answer::Fail(ENOSYS));
    table.always(calls::NOTED, Answer::Trap);
    table.always(&[calls::STAT_AT], Answer::Trap);
    for plain in [
        calls::PLAIN,
        calls::PLAIN_OLD,
        calls::PROLOGUE,
        calls::FORK_OLD,
        calls::UNTIL_LOCKED,
        &[calls::TIMER_LEFT, SYS_tgkill],
    ] {
        table.always(plain, Answer::Allow);
    }
    table.allow_when(SYS_mmap, EPERM, &[&[PROT_EXEC, SHARED, GROWING, HUGE]]);
    table.allow_when(SYS_mprotect, EPERM, &[&[PROT_EXEC, PROT_GROWSDOWN]]);
    table.allow_when(SYS_clone, EPERM, &[IS_THREAD, IS_FORK, IS_PLAIN_FORK]);
    // A user namespace of its own, where a worker cannot have a user of its own.
    table.allow_when(SYS_unshare, EPERM, &[&[Test::is(0, bits(libc::CLONE_NEWUSER))]]);
    table.allow_when(SYS_prlimit64, EPERM, &[&[Test::is(0, 0)]]);
    one_of(&mut table, SYS_prctl, 0, PRCTL_BODY.iter().chain(&PRCTL_PROLOGUE).map(|option| bits(*option)));
    one_of(&mut table, SYS_fcntl, 1, FCNTL.iter().map(|command| bits(*command)));
    one_of(&mut table, SYS_ioctl, 1, IOCTL);
    // `send` is `sendto` without an address. Urgent data is a corner of the kernel that nobody needs.
    table.allow_when(SYS_sendto, EPERM, &[&[Test::Null { argument: 4 }, lacks(3, libc::MSG_OOB)]]);
    table.allow_when(SYS_recvfrom, EPERM, &[&[lacks(3, libc::MSG_OOB)]]);
    table.allow_when(SYS_recvmsg, EPERM, &[&[lacks(2, libc::MSG_OOB)]]);
    // A pipe that the kernel puts its own events into.
    table.allow_when(SYS_pipe2, EPERM, &[&[lacks(1, libc::O_EXCL)]]);
    table.allow_when(SYS_socketpair, EPERM, &[&[Test::is(0, bits(libc::AF_UNIX))]]);
    let (mut get, mut set) = (pairs(libc::SOL_SOCKET, &GET_SOCKET), Vec::new());
    if profile == Profile::Connected {
        set.extend(pairs(libc::SOL_SOCKET, &SET_SOCKET));
        set.extend(pairs(libc::IPPROTO_TCP, &TCP));
        get.extend(pairs(libc::IPPROTO_TCP, &TCP));
    }
    any_of(&mut table, SYS_getsockopt, get);
    any_of(&mut table, SYS_setsockopt, set);
    table
}

/// The filter of commands: whatever programs do, without connections of any kind, other processes' memory, and what changes the
/// machine.
pub(super) fn commands() -> Table {
    const NAMESPACES: i32 = libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET;
    let mut table = Table::new(Answer::Allow, calls::LAST_KNOWN, Answer::Fail(ENOSYS));
    table.always(calls::NO_COMMANDS, Answer::Fail(EPERM));
    table.always(calls::NO_COMMANDS_OLD, Answer::Fail(EPERM));
    // Its flags are in memory, where no filter looks: what falls back makes processes by `clone`.
    table.always(&[libc::SYS_clone3], Answer::Fail(ENOSYS));
    table.always(&[libc::SYS_socket], Answer::Fail(EACCES));
    table.allow_when(SYS_clone, EPERM, &[&[Test::Has { argument: 0, mask: bits(NAMESPACES), value: 0 }]]);
    table.allow_when(SYS_socketpair, EPERM, &[&[Test::is(0, bits(libc::AF_UNIX))]]);
    // Its own limits and priority are its own to set, and nobody else's: where there is no namespace of processes, another process
    // of the same user would obey.
    for (number, process) in [
        (SYS_prlimit64, 0),
        (libc::SYS_sched_setaffinity, 0),
        (libc::SYS_sched_setscheduler, 0),
        (libc::SYS_sched_setparam, 0),
        (libc::SYS_sched_setattr, 0),
        (libc::SYS_setpriority, 1),
        (libc::SYS_ioprio_set, 1),
    ] {
        table.allow_when(number, EPERM, &[&[Test::is(process, 0)]]);
    }
    // Text typed into another's terminal.
    let typed = |request: u32| Test::Lacks { argument: 1, mask: u32::MAX, value: request };
    table.allow_when(SYS_ioctl, EPERM, &[&[typed(0x5412), typed(0x541c)]]);
    table
}

/// Programs that are written in the zygote, so that a worker only installs them.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    settled: Vec<sock_filter>,
    locked: Vec<sock_filter>,
}

/// Stands for a worker's number where it is not known yet. No process has it: there are 2^22 numbers.
const SOMEBODY: u32 = 0x7fff_fffe;

impl Prepared {
    pub(super) fn new() -> Self {
        Self { settled: settled(SOMEBODY).program(), locked: locked().program() }
    }

    /// The worker's own filter, for the process with this number.
    pub(super) fn settled(&mut self, pid: u32) -> &[sock_filter] {
        for instruction in self.settled.iter_mut().filter(|instruction| instruction.k == SOMEBODY) {
            instruction.k = pid;
        }
        &self.settled
    }

    /// The last filter.
    pub(super) fn locked(&self) -> &[sock_filter] {
        &self.locked
    }
}

/// The worker's own filter, before any code of an author's: what the prologue needed is gone.
fn settled(pid: u32) -> Table {
    let mut table = Table::new(Answer::Allow, 0, Answer::Allow);
    for gone in [calls::PROLOGUE, calls::FORK_OLD, &[SYS_unshare]] {
        table.always(gone, Answer::Fail(EPERM));
    }
    table.allow_when(SYS_clone, EPERM, &[IS_THREAD]);
    table.allow_when(SYS_prlimit64, EPERM, &[&[Test::is(0, 0), Test::Null { argument: 2 }]]);
    table.allow_when(SYS_tgkill, EPERM, &[&[Test::is(0, pid)]]);
    one_of(&mut table, SYS_prctl, 0, PRCTL_BODY.map(bits));
    table
}

/// The last filter, when a call begins: the kernel's timer and the filters stay as they are.
fn locked() -> Table {
    let mut table = Table::new(Answer::Allow, 0, Answer::Allow);
    table.always(calls::UNTIL_LOCKED, Answer::Fail(EPERM));
    table
}

/// Allows the call when the argument is one of these.
fn one_of(table: &mut Table, number: i64, argument: u8, values: impl IntoIterator<Item = u32>) {
    any_of(table, number, values.into_iter().map(|value| vec![Test::is(argument, value)]).collect());
}

fn pairs(level: i32, options: &[i32]) -> Vec<Vec<Test>> {
    options.iter().map(|option| vec![Test::is(1, bits(level)), Test::is(2, bits(*option))]).collect()
}

fn any_of(table: &mut Table, number: i64, alternatives: Vec<Vec<Test>>) {
    table.rule(&[number], &Rule::When { alternatives, then: Answer::Allow, otherwise: Answer::Fail(EPERM) });
}

const fn lacks(argument: u8, flags: i32) -> Test {
    Test::Lacks { argument, mask: bits(flags), value: bits(flags) }
}

const fn bits(number: i32) -> u32 {
    number.cast_unsigned()
}

#[cfg(test)]
mod tests;
