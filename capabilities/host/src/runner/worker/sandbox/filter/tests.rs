use super::*;

/// What a body that is locked may call, as the kernel joins three filters: the strictest answer counts.
fn joined(profile: Profile, number: u32, arguments: [u64; 6]) -> Vec<Answer> {
    [inherited(profile), settled(77), locked()].iter().map(|table| table.judge(number, arguments)).collect()
}

fn allowed(profile: Profile, number: i64, arguments: [u64; 6]) -> bool {
    let number = u32::try_from(number).expect("a number");
    joined(profile, number, arguments).iter().all(|answer| *answer == Answer::Allow)
}

const PROFILES: [Profile; 2] = [Profile::Sealed, Profile::Connected];

#[test]
fn a_filter_is_short_enough_for_the_kernel() {
    for profile in PROFILES {
        let program = inherited(profile).program();
        assert!(program.len() < 1000, "{}", program.len());
    }
    assert!(settled(1).program().len() < 150);
    assert!(locked().program().len() < 60);
}

#[test]
fn a_thread_may_be_started_and_a_process_may_not() {
    for profile in PROFILES {
        for (flags, is_allowed) in [
            // glibc, musl.
            (0x3d_0f00, true),
            (0x7d_0f00, true),
            // A fork, by glibc and by musl, and one that shares memory.
            (0x120_0011, false),
            (0x11, false),
            (0x4111, false),
            // Threads that are more than a thread.
            (0x3d_0f00 | 0x1000_0000, false),
            (0x3d_0f00 | 0x8000, false),
            (0x3c_0f00, false),
        ] {
            assert_eq!(allowed(profile, SYS_clone, [flags, 0, 0, 0, 0, 0]), is_allowed, "{flags:#x}");
        }
    }
}

#[test]
fn a_signal_goes_to_oneself_and_a_limit_is_only_read() {
    for profile in PROFILES {
        assert!(allowed(profile, SYS_tgkill, [77, 78, 6, 0, 0, 0]));
        assert!(!allowed(profile, SYS_tgkill, [76, 76, 6, 0, 0, 0]));
        assert!(allowed(profile, SYS_prlimit64, [0, 7, 0, 0x1000, 0, 0]));
        assert!(!allowed(profile, SYS_prlimit64, [0, 7, 0x1000, 0, 0, 0]));
        assert!(!allowed(profile, SYS_prlimit64, [77, 7, 0, 0x1000, 0, 0]));
    }
}

#[test]
fn memory_is_private_counted_and_never_code() {
    let map = |protection: i32, flags: i32| {
        let arguments = [0, 4096, u64::from(bits(protection)), u64::from(bits(flags)), 0, 0];
        allowed(Profile::Sealed, SYS_mmap, arguments)
    };
    let (write, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    assert!(map(write, private));
    assert!(map(libc::PROT_NONE, private | libc::MAP_NORESERVE | libc::MAP_STACK));
    assert!(map(libc::PROT_READ, libc::MAP_SHARED), "of a file");
    assert!(!map(write | libc::PROT_EXEC, private));
    assert!(!map(write, libc::MAP_SHARED | libc::MAP_ANONYMOUS));
    assert!(!map(write, private | libc::MAP_GROWSDOWN));
    assert!(!map(write, private | libc::MAP_HUGETLB));
}

#[test]
fn only_connected_bodies_set_options_and_only_plain_ones() {
    let set = |profile, level: i32, option: i32| {
        allowed(profile, SYS_setsockopt, [5, u64::from(bits(level)), u64::from(bits(option)), 0x1000, 4, 0])
    };
    assert!(set(Profile::Connected, libc::IPPROTO_TCP, libc::TCP_NODELAY));
    assert!(!set(Profile::Sealed, libc::IPPROTO_TCP, libc::TCP_NODELAY));
    for (level, option) in [
        (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER),
        (libc::SOL_SOCKET, libc::SO_PASSCRED),
        (libc::SOL_SOCKET, libc::SO_BINDTODEVICE),
        (libc::IPPROTO_TCP, libc::TCP_ULP),
        (libc::IPPROTO_TCP, libc::TCP_REPAIR),
        (libc::IPPROTO_IP, libc::IP_HDRINCL),
    ] {
        for profile in PROFILES {
            assert!(!set(profile, level, option), "{profile:?} {level} {option}");
        }
    }
}

#[test]
fn what_is_new_to_this_list_is_unknown_and_not_refused() {
    for profile in PROFILES {
        let table = inherited(profile);
        for number in [calls::LAST_KNOWN + 1, 500, 100_000] {
            assert_eq!(table.judge(number, [0; 6]), Answer::Fail(ENOSYS));
        }
        for number in calls::ABSENT {
            assert_eq!(table.judge(u32::try_from(*number).expect("a number"), [0; 6]), Answer::Fail(ENOSYS));
        }
    }
}

/// A file that is lent to be read is not changed, and not kept from others either: a lock on it would hold them up.
#[test]
fn a_lent_file_is_neither_changed_nor_locked() {
    for profile in PROFILES {
        let table = inherited(profile);
        for call in [libc::SYS_flock, libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_fsetxattr] {
            let number = u32::try_from(call).expect("a number");
            assert!(!table.may_allow(number), "{call}");
        }
        let lock = u64::try_from(libc::F_SETLK).expect("a command");
        let fcntl = u32::try_from(SYS_fcntl).expect("a number");
        assert_ne!(table.judge(fcntl, [3, lock, 0, 0, 0, 0]), Answer::Allow);
    }
}

/// Every number there is, whatever its arguments: a list that grew by accident is noticed.
#[test]
fn so_many_calls_can_be_made_at_all() {
    let mut plain = calls::PLAIN.len() + calls::PLAIN_OLD.len();
    // `timer_gettime`.
    plain += 1;
    // Those that are allowed with some arguments: clone mmap mprotect prctl fcntl ioctl sendto recvfrom recvmsg
    // socketpair getsockopt pipe2 tgkill prlimit64, and setsockopt for the connected.
    for (profile, with_rules) in [(Profile::Sealed, 14), (Profile::Connected, 15)] {
        let tables = [inherited(profile), settled(77), locked()];
        let open = (0..=calls::LAST_KNOWN).filter(|number| tables.iter().all(|table| table.may_allow(*number)));
        assert_eq!(open.count(), plain + with_rules);
    }
}

#[test]
fn a_prepared_program_is_the_one_for_its_process() {
    let plain =
        |program: &[sock_filter]| -> Vec<_> { program.iter().map(|one| (one.code, one.jt, one.jf, one.k)).collect() };
    let mut prepared = Prepared::new();
    assert_eq!(plain(prepared.settled(4_194_303)), plain(&settled(4_194_303).program()));
    assert_eq!(plain(prepared.locked()), plain(&locked().program()));
}
