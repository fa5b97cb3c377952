//! The system calls, sorted into families.
//!
//! Absent from every list of allowed calls, and so refused: everything that makes a socket or a connection, opens or names
//! a file, starts a program, reaches into another process, or changes what the kernel itself does.

use libc::*;

/// The highest number these lists were written for. A later call is unknown, and libraries that try it fall back.
pub(super) const LAST_KNOWN: u32 = 462;

/// Allowed whatever their arguments, in both profiles.
#[rustfmt::skip]
pub(super) const PLAIN: &[i64] = &[
    // Memory. `mmap` and `mprotect` have rules of their own.
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_membarrier, SYS_msync,
    // Threads. `clone` has a rule of its own.
    SYS_futex, SYS_futex_waitv, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq, SYS_sched_yield,
    SYS_sched_getaffinity, SYS_exit, SYS_exit_group, SYS_restart_syscall,
    // Signals. `tgkill` has a rule of its own.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    // Time.
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_times,
    SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    // What is done with a descriptor that one has. `fcntl`, `ioctl` and `pipe2` have rules of their own.
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2,
    SYS_pwritev2, SYS_lseek, SYS_fstat, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fallocate, SYS_fadvise64,
    SYS_copy_file_range, SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_eventfd2,
    SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_ppoll, SYS_pselect6,
    // Sockets that are connected already. What sends, receives and sets options has rules of its own.
    SYS_shutdown, SYS_getsockname, SYS_getpeername,
    // What a process may know about itself and the machine.
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
    SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_getrandom, SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_getcpu,
    SYS_getcwd,
];

/// The same by older names that only this architecture has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(super) const PLAIN_OLD: &[i64] = &[
    SYS_dup2, SYS_pipe, SYS_eventfd, SYS_epoll_create, SYS_epoll_wait, SYS_poll,
    SYS_select, SYS_pause, SYS_time, SYS_getpgrp,
];
#[cfg(target_arch = "aarch64")]
pub(super) const PLAIN_OLD: &[i64] = &[];

/// What a zygote and a worker's prologue need besides, and no body.
#[rustfmt::skip]
pub(super) const PROLOGUE: &[i64] = &[
    SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capget, SYS_capset, SYS_landlock_create_ruleset,
    SYS_landlock_add_rule, SYS_landlock_restrict_self, SYS_pidfd_open, SYS_sendmsg, SYS_wait4, SYS_waitid,
];

/// A process by an older name.
#[cfg(target_arch = "x86_64")]
pub(super) const FORK_OLD: &[i64] = &[SYS_fork];
#[cfg(target_arch = "aarch64")]
pub(super) const FORK_OLD: &[i64] = &[];

/// Set up the kernel's timer and the last filter, and end with it.
pub(super) const UNTIL_LOCKED: &[i64] =
    &[SYS_timer_create, SYS_timer_settime, SYS_timer_delete, SYS_timer_getoverrun, SYS_seccomp];

/// Only reads how long the kernel's timer still runs.
pub(super) const TIMER_LEFT: i64 = SYS_timer_gettime;

/// Named to the host when a body calls them: an author's library wants a network of its own.
pub(super) const NOTED: &[i64] = &[SYS_socket, SYS_connect];

/// Answered by the signal handler, which knows the one harmless form: asking about a descriptor that one has.
pub(super) const STAT_AT: i64 = SYS_newfstatat;

/// Refused as if they were not there: libraries fall back to calls that have rules here.
pub(super) const ABSENT: &[i64] = &[SYS_clone3, SYS_statx, SYS_openat2, SYS_faccessat2];

/// Refused with the words of the file system, since libraries expect that of a file they may not have.
#[rustfmt::skip]
pub(super) const FILES: &[i64] = &[
    SYS_openat, SYS_readlinkat, SYS_faccessat, SYS_chdir, SYS_fchdir, SYS_mkdirat, SYS_mknodat, SYS_unlinkat,
    SYS_linkat, SYS_symlinkat, SYS_renameat, SYS_renameat2, SYS_truncate, SYS_statfs, SYS_getdents64, SYS_flock,
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_name_to_handle_at, SYS_open_by_handle_at,
    SYS_execve, SYS_execveat, SYS_chroot, SYS_acct,
];

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(super) const FILES_OLD: &[i64] = &[
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_rmdir, SYS_rename, SYS_link,
    SYS_unlink, SYS_symlink, SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
    SYS_getdents,
];
#[cfg(target_arch = "aarch64")]
pub(super) const FILES_OLD: &[i64] = &[];

/// Refused to commands: what makes a connection, reaches into another process, or changes the machine.
#[rustfmt::skip]
pub(super) const NO_COMMANDS: &[i64] = &[
    SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_getfd, SYS_kcmp,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_fsopen, SYS_fsmount, SYS_fsconfig, SYS_fspick, SYS_move_mount,
    SYS_open_tree, SYS_mount_setattr, SYS_swapon, SYS_swapoff, SYS_quotactl, SYS_acct,
    SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_fanotify_init,
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_kexec_load, SYS_reboot, SYS_syslog, SYS_vhangup, SYS_sethostname, SYS_setdomainname,
    SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_personality,
    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_mknodat, SYS_mbind, SYS_migrate_pages, SYS_move_pages,
    SYS_set_mempolicy, SYS_lookup_dcookie, SYS_nfsservctl,
];

#[cfg(target_arch = "x86_64")]
pub(super) const NO_COMMANDS_OLD: &[i64] =
    &[SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_mknod, SYS_uselib, SYS_ustat, SYS_sysfs, SYS_kexec_file_load];
#[cfg(target_arch = "aarch64")]
pub(super) const NO_COMMANDS_OLD: &[i64] = &[];
