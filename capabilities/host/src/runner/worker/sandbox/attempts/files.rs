//! To files, and to what looks like one.

use std::fs::{self, File};
use std::io::Read as _;

use libc::{
    AT_EMPTY_PATH, AT_FDCWD, SYS_acct, SYS_chdir, SYS_chroot, SYS_faccessat, SYS_fanotify_init, SYS_fchdir,
    SYS_fchmodat, SYS_fchownat, SYS_fgetxattr, SYS_fsopen, SYS_getdents64, SYS_getxattr, SYS_inotify_init1, SYS_linkat,
    SYS_memfd_create, SYS_memfd_secret, SYS_mkdirat, SYS_mknodat, SYS_mount, SYS_mount_setattr, SYS_move_mount,
    SYS_name_to_handle_at, SYS_newfstatat, SYS_open_by_handle_at, SYS_open_tree, SYS_openat, SYS_openat2,
    SYS_pivot_root, SYS_quotactl, SYS_renameat2, SYS_setxattr, SYS_splice, SYS_statfs, SYS_statx, SYS_swapon,
    SYS_symlinkat, SYS_syncfs, SYS_tee, SYS_truncate, SYS_umount2, SYS_unlinkat, SYS_utimensat, SYS_vmsplice, c_long,
};

use super::{Attempt, NOWHERE, Room, Tried, call, text};

const HERE: c_long = AT_FDCWD as c_long;

pub(super) const ALL: &[Attempt] = &[
    Attempt::new("open", "read a file", |outside| read(&outside.file)),
    Attempt::new("open_for_writing", "write to a file", |outside| {
        Tried::of(File::options().append(true).open(&outside.file))
    }),
    Attempt::new("create", "create a file", |_| Tried::of(File::create("/nowhere/at/all"))),
    Attempt::new("open_root", "open the root directory", |_| {
        call(SYS_openat, [HERE, text(c"/"), libc::O_PATH.into(), 0])
    }),
    Attempt::new("open_beneath", "open a path by the newer call", |_| {
        let mut how = Room::new();
        call(SYS_openat2, [HERE, text(c"/"), how.at(), 24])
    }),
    Attempt::new("open_temporary", "make a file without a name", |_| {
        let flags = libc::O_TMPFILE | libc::O_RDWR;
        call(SYS_openat, [HERE, text(c"/tmp"), flags.into(), 0o600])
    }),
    Attempt::new("open_handle", "open a file by a number", |_| call(SYS_open_by_handle_at, [HERE, 0, 0])),
    Attempt::new("name_handle", "get the number of a file", |_| {
        call(SYS_name_to_handle_at, [HERE, text(NOWHERE), 0, 0, 0])
    }),
    Attempt::new("host_environment", "read the host's environment", |outside| {
        read(&format!("/proc/{}/environ", outside.process))
    }),
    Attempt::new("host_memory", "open the host's memory", |outside| {
        Tried::of(File::open(format!("/proc/{}/mem", outside.process)))
    }),
    Attempt::new("host_descriptors", "list the host's descriptors", |outside| {
        Tried::of(fs::read_dir(format!("/proc/{}/fd", outside.process)))
    }),
    Attempt::new("own_memory", "write over its own code", |_| {
        Tried::of(File::options().write(true).open("/proc/self/mem"))
    }),
    Attempt::new("own_program", "read its own program", |_| Tried::of(File::open("/proc/self/exe"))),
    Attempt::new("terminal", "open the terminal", |_| Tried::of(File::options().write(true).open("/dev/tty"))),
    Attempt::new("device", "open a device", |_| read("/dev/zero")),
    Attempt::new("stat", "learn about a file", |outside| Tried::of(fs::metadata(&outside.file))),
    Attempt::new("stat_old", "learn about a file by an older call", |_| {
        let mut about = Room::new();
        call(SYS_newfstatat, [HERE, text(c"/"), about.at(), 0])
    }),
    Attempt::new("stat_disguised", "learn about a file as if it were a descriptor", |_| {
        let mut about = Room::new();
        call(SYS_newfstatat, [HERE, text(c"/"), about.at(), AT_EMPTY_PATH.into()])
    }),
    Attempt::new("stat_new", "learn about a file by a newer call", |_| {
        let mut about = Room::new();
        call(SYS_statx, [HERE, text(c"/"), 0, 1, about.at()])
    }),
    Attempt::new("stat_file_system", "learn about a file system", |_| {
        let mut about = Room::new();
        call(SYS_statfs, [text(c"/"), about.at()])
    }),
    Attempt::new("access", "ask whether a file is there", |_| call(SYS_faccessat, [HERE, text(c"/"), 0])),
    Attempt::new("read_link", "read a link", |_| Tried::of(fs::read_link("/proc/self/exe"))),
    Attempt::new("list", "list a directory", |_| Tried::of(fs::read_dir("/"))),
    Attempt::new("list_opened", "list a directory that it has", |_| call(SYS_getdents64, [-1, 0, 0])),
    Attempt::new("change_directory", "change its directory", |_| call(SYS_chdir, [text(c"/")])),
    Attempt::new("change_directory_opened", "change its directory to one it has", |_| call(SYS_fchdir, [-1])),
    Attempt::new("make_directory", "make a directory", |_| call(SYS_mkdirat, [HERE, text(NOWHERE), 0o700])),
    Attempt::new("make_device", "make a device", |_| {
        call(SYS_mknodat, [HERE, text(NOWHERE), libc::S_IFCHR.into(), 0x103])
    }),
    Attempt::new("make_pipe", "make a pipe with a path", |_| {
        call(SYS_mknodat, [HERE, text(NOWHERE), libc::S_IFIFO.into(), 0])
    }),
    Attempt::new("link", "give a file another name", |_| {
        call(SYS_linkat, [HERE, text(NOWHERE), HERE, text(NOWHERE), 0])
    }),
    Attempt::new("symlink", "make a symbolic link", |_| call(SYS_symlinkat, [text(c"/"), HERE, text(NOWHERE)])),
    Attempt::new("rename", "rename a file", |_| call(SYS_renameat2, [HERE, text(NOWHERE), HERE, text(NOWHERE), 0])),
    Attempt::new("unlink", "remove a file", |_| call(SYS_unlinkat, [HERE, text(NOWHERE), 0])),
    Attempt::new("truncate", "cut a file off", |_| call(SYS_truncate, [text(NOWHERE), 0])),
    Attempt::new("mode", "change a file's mode", |_| call(SYS_fchmodat, [HERE, text(NOWHERE), 0o777])),
    Attempt::new("owner", "change a file's owner", |_| call(SYS_fchownat, [HERE, text(NOWHERE), 0, 0, 0])),
    Attempt::new("times", "change a file's times", |_| call(SYS_utimensat, [HERE, text(NOWHERE), 0, 0])),
    Attempt::new("attributes", "read a file's attributes", |_| {
        call(SYS_getxattr, [text(NOWHERE), text(c"user.a"), 0, 0])
    }),
    Attempt::new("attributes_opened", "read the attributes of a file it has", |_| {
        call(SYS_fgetxattr, [-1, text(c"user.a"), 0, 0])
    }),
    Attempt::new("attributes_set", "set a file's attributes", |_| {
        call(SYS_setxattr, [text(NOWHERE), text(c"user.a"), 0, 0, 0])
    }),
    Attempt::new("watch", "watch files", |_| call(SYS_inotify_init1, [libc::IN_CLOEXEC.into()])),
    Attempt::new("watch_all", "watch a file system", |_| call(SYS_fanotify_init, [-1, 0])),
    Attempt::new("memory_file", "make a file in memory, to run it", |_| call(SYS_memfd_create, [text(c"program"), 0])),
    Attempt::new("secret_memory", "make memory that the kernel cannot read", |_| call(SYS_memfd_secret, [-1])),
    Attempt::new("splice", "move pages between descriptors", |_| call(SYS_splice, [-1, 0, -1, 0, 1, 0])),
    Attempt::new("splice_memory", "give pages to a pipe", |_| call(SYS_vmsplice, [-1, 0, 0, 0])),
    Attempt::new("tee", "copy pages between pipes", |_| call(SYS_tee, [-1, -1, 1, 0])),
    Attempt::new("sync_file_system", "have a disk written", |_| call(SYS_syncfs, [-1])),
    Attempt::new("mount", "mount a file system", |_| call(SYS_mount, [0, text(NOWHERE), text(c"tmpfs"), 0, 0])),
    Attempt::new("unmount", "unmount a file system", |_| call(SYS_umount2, [text(NOWHERE), 0])),
    Attempt::new("mount_open", "prepare a file system", |_| call(SYS_fsopen, [text(c"tmpfs"), -1])),
    Attempt::new("mount_tree", "copy a tree of mounts", |_| call(SYS_open_tree, [HERE, text(NOWHERE), 0])),
    Attempt::new("mount_move", "move a mount", |_| call(SYS_move_mount, [-1, text(c""), -1, text(c""), -1])),
    Attempt::new("mount_attributes", "change a mount", |_| call(SYS_mount_setattr, [HERE, text(NOWHERE), 0, 0, 0])),
    Attempt::new("pivot_root", "exchange the root directory", |_| call(SYS_pivot_root, [text(NOWHERE), text(NOWHERE)])),
    Attempt::new("chroot", "change its root directory", |_| call(SYS_chroot, [text(NOWHERE)])),
    Attempt::new("swap", "swap to a file", |_| call(SYS_swapon, [text(NOWHERE), 0])),
    Attempt::new("quota", "read quotas", |_| call(SYS_quotactl, [-1, text(NOWHERE), 0, 0])),
    Attempt::new("accounting", "account every process to a file", |_| call(SYS_acct, [text(NOWHERE)])),
];

/// Whether a byte of a file can be had.
fn read(path: &str) -> Tried {
    Tried::of(File::open(path).and_then(|mut file| file.read(&mut [0])))
}
