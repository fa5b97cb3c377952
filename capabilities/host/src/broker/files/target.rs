//! The one path outside the workspace that a person answered for.
//!
//! It is walked part by part from the root of the file system, over no link. What each part *is* decides: which directory,
//! on which file system. How it is spelt decides nothing.

use std::os::fd::OwnedFd;

use capability_core::handle::{BrokerFault, TargetPlace, is_plain_absolute_path};
use rustix::fs::{FileType, Mode, OFlags};

use super::{Files, Identity, READING, fault};

/// File systems that are views of the kernel, of its devices and of other processes, by their magic numbers.
const KERNEL: &[u32] = &[
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x1cd1,      // devpts
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x0765_5821, // resctrl
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0xde5e_81e4, // efivarfs
    0x6165_676c, // pstore
    0x4249_4e4d, // binfmt_misc
    0x6e73_6673, // nsfs
    0x1980_0202, // mqueue
    0x6573_5543, // fusectl
    0x0187,      // autofs
];

/// Where devices are, which may be on a file system like any other.
const DEVICES: &str = "/dev";

/// How far a walk came.
enum Walked {
    /// To what its last part names: looked at, not opened.
    To { directory: OwnedFd, there: OwnedFd },
    /// No further than this.
    Stopped(TargetPlace, BrokerFault),
}

impl Files {
    /// Where an absolute path leads.
    pub fn place_of(&self, path: &str) -> Result<TargetPlace, BrokerFault> {
        Ok(match self.walk(path)? {
            Walked::To { .. } => TargetPlace::Outside,
            Walked::Stopped(place, _) => place,
        })
    }

    /// The plain file of one name at an absolute path, open to be read.
    pub fn open_outside(&self, path: &str) -> Result<OwnedFd, BrokerFault> {
        let (directory, there) = match self.walk(path)? {
            Walked::To { directory, there } => (directory, there),
            Walked::Stopped(_, fault) => return Err(fault),
        };
        let there = Identity::of_file(&there, true)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        there.held(rustix::fs::openat(&directory, name, READING, Mode::empty()).map_err(fault)?)
    }

    fn walk(&self, path: &str) -> Result<Walked, BrokerFault> {
        if !is_plain_absolute_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        let workspace = Identity::of(&rustix::fs::fstat(&self.root).map_err(fault)?);
        let devices = rustix::fs::stat(DEVICES).ok().map(|stat| Identity::of(&stat));
        let own: Vec<_> = self.own().chain(devices).collect();
        let looking = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = |directory: &OwnedFd, part: &str| rustix::fs::openat(directory, part, looking, Mode::empty());
        let root = rustix::fs::open("/", looking | OFlags::DIRECTORY, Mode::empty()).map_err(fault)?;
        let mut before = rustix::io::fcntl_dupfd_cloexec(&root, 0).map_err(fault)?;
        let mut reached = root;
        for part in path.split('/').skip(1) {
            let next = match opened(&reached, part) {
                Ok(next) => next,
                Err(errno) => return Ok(Walked::Stopped(TargetPlace::Outside, fault(errno))),
            };
            let stat = rustix::fs::fstat(&next).map_err(fault)?;
            let (kind, identity) = (FileType::from_raw_mode(stat.st_mode), Identity::of(&stat));
            if kind == FileType::Symlink {
                return Ok(Walked::Stopped(TargetPlace::Outside, BrokerFault::OutsideWorkspace));
            }
            if identity == workspace {
                return Ok(Walked::Stopped(TargetPlace::Inside, BrokerFault::InsideWorkspace));
            }
            if own.contains(&identity) || is_kernels(&next)? {
                return Ok(Walked::Stopped(TargetPlace::Protected, BrokerFault::Protected));
            }
            before = core::mem::replace(&mut reached, next);
        }
        Ok(Walked::To { directory: before, there: reached })
    }
}

/// Whether it is on a file system of the kernel's.
fn is_kernels(there: &OwnedFd) -> Result<bool, BrokerFault> {
    let system = rustix::fs::fstatfs(there).map_err(fault)?;
    // Its width differs between machines; no magic number has more than 32 bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low 32 bits are the magic number")]
    let magic = system.f_type as u32;
    Ok(KERNEL.contains(&magic))
}
